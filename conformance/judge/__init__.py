"""The judge: what was seen against what the contract asks.

`check` holds the way to a verdict; the rules stand in one module a channel.
"""

from forkproof.conformance.judge.check import RULES, judge, suite_error

__all__ = ["RULES", "judge", "suite_error"]
