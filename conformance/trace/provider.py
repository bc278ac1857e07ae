"""Expectations on what a provider knows a session by, and on what is bound to it. Source: clauses PRV-1 to PRV-5."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import model_validator

from forkproof.conformance.trace.base import TraceModel

__all__ = ["Identity", "ProviderFields", "Thinking"]

Identity: TypeAlias = Literal["same", "differs", "absent"]
"""How a field of a request stands to that of the source's newest request: the same, another one, or not there."""

Thinking: TypeAlias = Literal["intact", "absent"]
"""What becomes of thinking: `intact` is byte for byte with what depended on it, or left out; `absent` is left out."""


class ProviderFields(TraceModel):
    """The fields by which a provider knows a session, against the newest request of the session's source before it.

    A session without a source is compared with itself: its own request before this turn.
    """

    cache_key: Identity | None = None
    remote_id: Identity | None = None
    session: Identity | None = None

    @model_validator(mode="after")
    def _some(self) -> ProviderFields:
        if not self.fields():
            msg = "name at least one of cache_key, remote_id and session"
            raise ValueError(msg)
        return self

    def fields(self) -> dict[str, Identity]:
        """The fields that are set."""
        given = {"cache_key": self.cache_key, "remote_id": self.remote_id, "session": self.session}
        return {name: value for name, value in given.items() if value is not None}
