"""The scenarios: YAML files, one folder per area of the contract."""
