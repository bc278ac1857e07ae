"""The fork record, from what Codex states and lists. It never returns one as such; docs/codex.md says field by field.

`reported` is only what the answer to `thread/fork` states: the new thread, `forkedFromId`, the settings and the
directory; with the directory of the source, stated earlier, that also says whether the workspace is shared. The cut is
in no answer: it is `derived` from the two threads' listings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forkproof.adapters.codex.answers import StoredTurn, ThreadState
from forkproof.adapters.codex.modes import mode_of
from forkproof.adapters.protocol import ABSENT, Cut, Field, Fork, ForkRecord

__all__ = ["applied_cut", "fork_record"]


def fork_record(
    asked: Fork,
    child: ThreadState,
    source_directory: str | None,
    cut: Mapping[str, Any],
    copied: Sequence[StoredTurn],
) -> ForkRecord:
    """The record of one fork; `cut` is `applied_cut`'s, `copied` the child's turns, oldest first."""
    return ForkRecord(
        session=Field(child.id, "reported"),
        source=_reported(child.forked_from),
        cut=Field(dict(cut), "derived"),
        settings=Field(_settings(child), "reported"),
        checkpoint=Field(_checkpoint(copied), "derived"),
        directory=_reported(child.directory),
        workspace=_workspace(asked, child.directory, source_directory),
        # Codex keeps fork and delegation apart by the field that names the other thread.
        edge=Field("fork", "reported") if child.forked_from and not child.parent else ABSENT,
    )


def applied_cut(
    cut: Cut, turn: str | None, source: Sequence[StoredTurn], copied: Sequence[StoredTurn]
) -> dict[str, Any]:
    """Where the copied history really ends: the cut asked for if the child's turns agree, else after its last turn.

    `{"interrupted": TURN}` is a head where a running turn was copied as if it had been interrupted. `turn` is the
    native id of the cut's turn; `source` and `copied` are the turns of both threads, oldest first.
    """
    there, here = [t.id for t in source], [t.id for t in copied]
    if cut.kind == "head" and here == there:
        split = here and (source[-1].status, copied[-1].status) == ("inProgress", "interrupted")
        return {"interrupted": here[-1]} if split else {"head": True}
    if turn in there and here == there[: there.index(turn) + (cut.kind == "after")]:
        return {cut.kind: turn}
    if here:
        return {"after": here[-1]}
    return {"before": there[0]} if there else {}


def _settings(child: ThreadState) -> dict[str, dict[str, str | None]]:
    """The stated settings, none with an origin; sandbox and approval policy in the trace language's word for both."""
    mode = mode_of(child.settings["approval-policy"], child.settings["sandbox"])
    return {name: {"value": value} for name, value in {**child.settings, "permissions": mode}.items()}


def _checkpoint(copied: Sequence[StoredTurn]) -> str:
    return next((turn.id for turn in reversed(copied) if turn.compacted), "none")


def _workspace(asked: Fork, directory: str | None, source_directory: str | None) -> Field:
    if directory is None or source_directory is None:
        return ABSENT
    if directory == source_directory:
        return Field("shared", "reported")
    return Field("isolated" if directory == asked.directory else "other", "reported")


def _reported(value: str | None) -> Field:
    return ABSENT if value is None else Field(value, "reported")
