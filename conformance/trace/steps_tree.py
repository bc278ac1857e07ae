"""The steps that move in a session's tree, copy its path, name its entries or edit its context.

Source: design section 3; clauses NAV-1 to NAV-10, LBL-1 to LBL-3, OPS-3, CUT-6.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from forkproof.conformance.trace.base import ItemName, Many, Name
from forkproof.conformance.trace.step import StepModel
from forkproof.conformance.trace.tools import SayStep

__all__ = ["BranchStep", "CloneStep", "EditContextStep", "LabelStep", "RewindStep"]

_Text = Annotated[str, StringConstraints(min_length=1)]


class BranchStep(StepModel):
    """Go on from an earlier entry of a session: a person's own message is taken back, anything else is gone on from.

    With `summary` the branch that is left is summarized, and the model answers with it; its item is `NAME.summary`.
    """

    branch: Name
    in_: Name = Field("main", alias="in")
    to: ItemName
    summary: Annotated[Many[SayStep], Field(min_length=1, max_length=1)] | None = None


class RewindStep(StepModel):
    """Take a turn and all that follows it off a session's path."""

    rewind: Name
    in_: Name = Field("main", alias="in")
    before: Name


class CloneStep(StepModel):
    """A new session from a session's active path at its position; the workspace is shared."""

    clone: Name
    in_: Name = Field("main", alias="in")


class LabelStep(StepModel):
    """Name an entry with `text`, or take its name away with `clear`."""

    label: Name
    in_: Name = Field("main", alias="in")
    of: ItemName
    text: Annotated[str, StringConstraints(min_length=1, max_length=80)] | None = None
    clear: Literal[True] | None = None

    @model_validator(mode="after")
    def _one(self) -> LabelStep:
        if (self.text is None) == (self.clear is None):
            msg = "a label step has either a `text`, or `clear: true`"
            raise ValueError(msg)
        return self


class EditContextStep(StepModel):
    """From here on show the model `show` in place of what an entry says; its item is then `NAME.edit`."""

    edit_context: Name
    in_: Name = Field("main", alias="in")
    of: ItemName
    show: _Text
