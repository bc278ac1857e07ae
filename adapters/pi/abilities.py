"""What each release of pi can do, over RPC and the bridge: every one of these was driven. Source: docs/pi.md."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["POLICIES", "UNOBSERVABLE", "capabilities"]

_ALL = frozenset(
    {
        "fork.before", "fork.after", "fork.at", "fork.head", "fork.editor", "fork.points", "clone", "compact", "cancel",
        "steer", "queue", "resume", "restart", "branch", "branch.summary", "label", "history", "sessions",
        "import", "import.tree", "settings", "hooks.before-fork", "workspace.isolated", "workspace.isolated.caller",
        "tool.write", "tool.edit", "tool.read", "tool.run", "tool.wait", "tool.count", "tool.together",
    }
)  # fmt: skip

_SINCE: Mapping[tuple[int, ...], frozenset[str]] = {
    (0, 80, 3): frozenset({"entries", "tree"}),
    (1, 0, 0): frozenset({"edit-context"}),
}
"""Release -> what came with it."""

_OF_WIRE: Mapping[str, frozenset[str]] = {
    "chat": frozenset(),
    "responses": frozenset({"thinking.encrypted"}),
    "messages": frozenset({"thinking.signed"}),
}

POLICIES: Mapping[str, str] = {"busy_source": "interrupt", "call_group": "repair", "settings_source": "cut"}

UNOBSERVABLE = frozenset({"branch.editor"})


def capabilities(version: tuple[int, ...], wire: str) -> frozenset[str]:
    """What this release can do with this wire format."""
    since = (able for first, able in _SINCE.items() if version >= first)
    return _ALL.union(*since, _OF_WIRE[wire])
