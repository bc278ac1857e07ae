"""The trace language: its types, its loader and its linter."""
