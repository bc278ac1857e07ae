"""The in-process route: the reference behind the adapter protocol."""

from forkproof.adapters.inprocess.adapter import CAPABILITIES, ReferenceAdapter, create
from forkproof.adapters.inprocess.world import MemoryWorld

__all__ = ["CAPABILITIES", "MemoryWorld", "ReferenceAdapter", "create"]
