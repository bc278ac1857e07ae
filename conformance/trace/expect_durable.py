"""What must be seen of storage and identity. Source: clauses REC-3, REC-5, OPS-1, ISO-5, SNAP-3."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from forkproof.conformance.trace.base import Many, Name, TraceModel

__all__ = ["DURABLE_KINDS", "DurableExpectations"]

DURABLE_KINDS = ("lineage", "titles_differ", "opens", "prefix_of", "one_successor")


class DurableExpectations(TraceModel):
    """The kinds that look at what a harness keeps.

    lineage: the immediate source of each session, as the list of sessions states it; `none` for one that has none.
    titles_differ: the list shows these sessions under different titles. opens: the session that the resume opened, by
    its own id. prefix_of: before its own user message, the turn's first request holds a beginning of what that
    session's next request holds. one_successor: no two compactions of this step that were done summarized the same
    history.
    """

    lineage: Annotated[dict[Name, Name], Field(min_length=1)] | None = None
    titles_differ: Annotated[Many[Name], Field(min_length=2)] | None = None
    opens: Name | None = None
    prefix_of: Name | None = None
    one_successor: Literal[True] | None = None
