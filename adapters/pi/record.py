"""The fork record, from what pi states and holds. It never returns one as such; docs/pi.md says field by field.

`reported` is what pi itself states: the session and its settings in `get_state`, the directory and the source in the
new session's header, the text for editing in the answer to `fork`. The cut, the revision and the checkpoint are in no
statement of pi's: they are `derived` from the entries of both sessions.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from forkproof.adapters.pi.path import Held
from forkproof.adapters.pi.process import Standing
from forkproof.adapters.protocol import ABSENT, Cut, Field, Fork, ForkRecord
from forkproof.adapters.tree import Clone

__all__ = ["applied_cut", "fork_record"]


def fork_record(
    asked: Fork | Clone,
    child: Standing,
    held: Held,
    source: Held,
    *,
    source_id: str | None,
    cut: Mapping[str, Any],
    editor: str | None = None,
) -> ForkRecord:
    """The record of one fork.

    `held` is what pi holds of the child, `source` what it held of the source before; `source_id` the session in the
    file that the child's header names, None where it names none; `editor` the text that pi gave back, if any.
    """
    directory = held.header.get("cwd")
    return ForkRecord(
        session=Field(child.id, "reported"),
        source=ABSENT if source_id is None else Field(source_id, "reported"),
        cut=Field(dict(cut), "derived"),
        revision=Field(source.revision, "derived"),
        settings=Field({"model": {"value": child.model}, "effort": {"value": child.effort}}, "reported"),
        checkpoint=Field(held.checkpoint, "derived"),
        directory=Field(directory, "reported") if isinstance(directory, str) else ABSENT,
        editor=ABSENT if editor is None else Field(editor, "reported"),
        workspace=_workspace(directory, source.header.get("cwd"), asked.directory),
    )


def _workspace(directory: object, source: object, asked: str) -> Field:
    """Whether the child's stated directory is the source's, the new place that was asked for, or another one."""
    if not (isinstance(directory, str) and isinstance(source, str)):
        return ABSENT
    if _same(directory, source):
        return Field("shared", "reported")
    return Field("isolated" if _same(directory, asked) else "other", "reported")


def applied_cut(cut: Cut, source: Held, child: Held, entry: str | None, *, busy: str | None) -> dict[str, Any]:
    """Where the copied history really ends: the cut asked for if the child's messages agree, else after its last one.

    `entry` is the one that the cut was told by; `busy` the marker of the turn that ran in the source, None where none
    ran.
    """
    there, here = source.conversation, child.conversation
    if cut.kind == "head" and here == there:
        return {"head": True} if busy is None else {"interrupted": busy}
    if cut.turn is not None and entry in there and here == there[: there.index(entry) + (cut.kind != "before")]:
        return {cut.kind: cut.turn.marker}
    if cut.item is not None and entry in there and here == there[: there.index(entry) + 1]:
        return {"at": cut.item.marker}
    if here:
        return {"after": here[-1]}
    return {"before": there[0]} if there else {}


def _same(a: str, b: str) -> bool:
    return os.path.realpath(a) == os.path.realpath(b)
