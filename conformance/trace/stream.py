"""What else an answer of the model holds or does: thinking, a held stream, a broken one. Source: design section 3."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from forkproof.conformance.trace.base import Name, TraceModel

__all__ = ["DropStep", "StallStep", "ThinkStep"]


class ThinkStep(TraceModel):
    """The model thinks; it goes out in one answer with what stands behind it.

    `signed` thinking bears a signature over its text, `encrypted` thinking an opaque form that may go without its text.
    Both are for the model and account that made them, and are good only byte for byte (clauses PRV-4, PRV-5).
    """

    think: str
    signed: Literal[True] | None = None
    encrypted: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> ThinkStep:
        if self.signed and self.encrypted:
            msg = "thinking is signed or encrypted, not both"
            raise ValueError(msg)
        return self

    @property
    def form(self) -> Literal["plain", "signed", "encrypted"]:
        """How it is bound to whom it was given."""
        return "signed" if self.signed else "encrypted" if self.encrypted else "plain"


class StallStep(TraceModel):
    """The stream of this answer stays open at this place until it is released by this name."""

    stall: Name


class DropStep(TraceModel):
    """The connection breaks at this place; it ends the answer. Whoever asks again meets the next one."""

    drop: Literal[True]
