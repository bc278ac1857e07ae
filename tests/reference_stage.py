"""A stage for stories about the reference harness: one session, and short names for what a story does with it."""

from __future__ import annotations

from forkproof.reference.cut import Point
from forkproof.reference.entries import Entry
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.semantics import CONTRACT, Semantics
from forkproof.reference.session import Session
from forkproof.reference.turn import Ended
from tests.reference_models import Script, items

__all__ = ["HEAD", "SHARED", "Stage"]

HEAD = Point("head")
SHARED = ForkRequest("/main")


class Stage:
    """A harness with one session, and short names for what a story does with it."""

    def __init__(self, model: Script | None = None, semantics: Semantics = CONTRACT) -> None:
        self.model = model or Script()
        self.harness = Harness(self.model, semantics=semantics)
        self.harness.machine.create("/main", {"notes.md": "draft\n"})
        session = self.harness.open("/main")
        assert isinstance(session, Session)
        self.main = session.header.id

    async def turn(self, text: str, session: str = "") -> str:
        """Play a turn to its end; its id."""
        ended = await self.harness.prompt(session or self.main, text)
        assert isinstance(ended, Ended)
        return ended.turn

    async def fork(self, point: Point, request: ForkRequest = SHARED, source: str = "") -> Record:
        """A fork that succeeds."""
        record = await self.harness.fork(source or self.main, point, request)
        assert isinstance(record, Record)
        return record

    async def refused(self, point: Point, request: ForkRequest = SHARED, source: str = "") -> Refusal:
        """A fork that is refused, and has changed nothing."""
        before = self.state()
        refusal = await self.harness.fork(source or self.main, point, request)
        assert isinstance(refusal, Refusal)
        assert self.state() == before
        return refusal

    def state(self) -> list[tuple[str, Entry | None]]:
        """Every session with its leaf."""
        sessions = (self.harness.session(id_) for id_ in self.harness.sessions())
        return [(s.header.id, s.leaf) for s in sessions if s is not None]

    def leaf(self, session: str = "") -> Entry | None:
        """A session's leaf."""
        found = self.harness.session(session or self.main)
        assert found is not None
        return found.leaf

    def last(self) -> list[str]:
        """The items of the newest request."""
        return items(self.model.prompts[-1])
