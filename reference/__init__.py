"""The in-memory harness that proves that the fork contract can be met."""
