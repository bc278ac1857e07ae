"""The record of a run: one event stream, and the writers that read it."""
