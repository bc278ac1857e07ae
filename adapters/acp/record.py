"""The fork record, from what an agent states about a fork over ACP.

`session/fork` answers with the new session's id, its modes and its configuration options; the directory is in
`session/list`. The source, the cut, the revision and the checkpoint have no field in ACP; an extension may find some of
them. Every value here is the agent's own statement, so every origin is `reported`. Clauses REC-1 to REC-10.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from forkproof.adapters.acp.recipe import Recipe
from forkproof.adapters.acp.settings import stated
from forkproof.adapters.protocol import ABSENT, Field, Fork, ForkRecord

__all__ = ["fork_record"]


def fork_record(
    asked: Fork, answer: Mapping[str, Any], recipe: Recipe, directories: Mapping[str, str], source: str | None = None
) -> ForkRecord:
    """The record of a fork that was made.

    `answer` is the one to `session/fork`; `directories` what the agent says of the source's and the child's directory;
    `source` the session that it names as the child's source, if it names one anywhere.
    """
    child = answer["sessionId"]
    told = stated(answer, recipe)
    return ForkRecord(
        session=Field(child, "reported"),
        source=ABSENT if source is None else Field(source, "reported"),
        settings=Field({name: {"value": value} for name, value in told.items()}, "reported") if told else ABSENT,
        directory=Field(directories[child], "reported") if child in directories else ABSENT,
        workspace=_workspace(asked, directories.get(child), directories.get(asked.session)),
    )


def _workspace(asked: Fork, child: str | None, source: str | None) -> Field:
    """Whether the child's stated directory is the source's, the new place that was asked for, or another one."""
    if child is None or source is None:
        return ABSENT
    if _same(child, source):
        return Field("shared", "reported")
    return Field("isolated" if _same(child, asked.directory) else "other", "reported")


def _same(a: str, b: str) -> bool:
    return os.path.realpath(a) == os.path.realpath(b)
