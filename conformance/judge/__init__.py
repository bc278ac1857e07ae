"""The judge: what was seen against what the contract asks. `check` holds the way to a verdict, one module a channel the rules."""

from forkproof.conformance.judge.check import RULES, judge, suite_error

__all__ = ["RULES", "judge", "suite_error"]
