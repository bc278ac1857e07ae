"""What must be seen of a session when it is read from outside: its entries, tree, history, cut points and labels.

Entries go by the items that they hold; entries that hold none (a harness's own) are not judged. Source: design
section 3; clauses RD-1 to RD-6, NAV-1, NAV-5, NAV-8, LBL-1, TRE-1 to TRE-3.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, model_validator

from forkproof.conformance.trace.base import ItemName, Many, Name, TraceModel

__all__ = ["TREE_KINDS", "EntryExpectation", "Place", "TreeExpectations"]

Place: TypeAlias = ItemName | Literal["none"]
"""An entry by an item that it holds; `none` where there is nothing before."""

TREE_KINDS = (
    "entries", "entries_have", "entries_since", "unknown_cursor", "entry", "leaf", "paths", "history", "shown_as_sent",
    "cut_points", "sessions", "labels", "summarized",
)  # fmt: skip


class EntryExpectation(TraceModel):
    """The entry that holds the item `id`: the one that it is behind, and the leaf that a branch summary comes from."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["parent"]}, {"required": ["from"]}]})

    id: ItemName
    parent: Place | None = None
    from_: ItemName | None = Field(None, alias="from")

    @model_validator(mode="after")
    def _says_something(self) -> EntryExpectation:
        if self.parent is None and self.from_ is None:
            msg = "say the entry's `parent`, or where it comes `from`"
            raise ValueError(msg)
        return self


class TreeExpectations(TraceModel):
    """The kinds that read a session from outside.

    entries: the whole listing, in order; entries_have: items in it. entries_since: per cursor, an item, all that is
    listed after it. unknown_cursor: what listing since an entry that never was comes to. entry: what one entry is
    behind. leaf: where the session stands. paths: every path from a root to a leaf. history: the conversation that is
    shown. shown_as_sent: the conversation that is shown begins with all that the session's last request holds, in its
    order, whatever that is. cut_points: the user messages that are offered as cut points, with their texts. sessions:
    the ones listed. labels: every label that shows, by the item whose entry bears it. summarized: what the branch
    summary was made of.
    """

    entries: Many[ItemName] | None = None
    entries_have: Annotated[Many[ItemName], Field(min_length=1)] | None = None
    entries_since: Annotated[dict[ItemName, Many[ItemName]], Field(min_length=1)] | None = None
    unknown_cursor: Literal["refused"] | None = None
    entry: EntryExpectation | None = None
    leaf: Place | None = None
    paths: Annotated[Many[Annotated[Many[ItemName], Field(min_length=1)]], Field(min_length=1)] | None = None
    history: Many[ItemName] | None = None
    shown_as_sent: Literal[True] | None = None
    cut_points: dict[ItemName, str] | None = None
    sessions: Annotated[Many[Name], Field(min_length=1)] | None = None
    labels: dict[ItemName, str] | None = None
    summarized: Annotated[Many[ItemName], Field(min_length=1)] | None = None
