"""The steps beside a conversation's own turns: scopes, a person's own edits, files put back, time that passes.

Source: design section 3; clauses FLD-1 to FLD-4, ENV-2, ENV-6, ENV-7, STA-2.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from forkproof.conformance.trace.base import Name, RelativePath
from forkproof.conformance.trace.step import StepModel

__all__ = ["DelegateStep", "DueStep", "FoldStep", "RestoreStep", "UserEditsStep"]


class DelegateStep(StepModel):
    """A scope inside a conversation, in which turns can be played like in a session (`in: SCOPE`)."""

    delegate: Name
    in_: Name = Field("main", alias="in")


class FoldStep(StepModel):
    """What was said in a scope is brought into the main thread of its conversation."""

    fold: Name


class UserEditsStep(StepModel):
    """The person changes files of a session's workspace, outside of any tool."""

    user_edits: Name
    in_: Name = Field("main", alias="in")
    write: Annotated[dict[RelativePath, str], Field(min_length=1)]


class RestoreStep(StepModel):
    """Files are put back as they were before a turn of the session; the conversation stays as it is."""

    restore: Name
    in_: Name = Field("main", alias="in")
    before: Name


class DueStep(StepModel):
    """Time passes until the wake-up that this call set is due, and what it starts is waited for."""

    due: Name
