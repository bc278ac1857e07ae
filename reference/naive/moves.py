"""Compactions, and moving in a session's tree. Source: clauses CMP, NAV, LBL."""

from __future__ import annotations

from forkproof.reference.naive.answers import Failed, No, Stalled
from forkproof.reference.naive.items import Item, context, edited
from forkproof.reference.naive.navigation import left_behind, place_of, relabel
from forkproof.reference.naive.prompts import summary_prompt
from forkproof.reference.naive.session import Label, Session, Under
from forkproof.reference.naive.turns import Turns
from forkproof.reference.prompt import Text

__all__ = ["Moves"]


class Moves(Turns):
    """What changes the context of a session without a turn."""

    def compact(self, id_: str) -> Under | No:
        """Let the model sum up everything but the newest turns, and put a summary item behind the history."""
        session = self._idle(id_)
        if isinstance(session, No):
            return session
        shown = context(session.path)
        begins = [index for index, item in enumerate(shown) if item.kind == "user"]
        if not begins:
            return No("other")
        kept = min(self.choices.retained_turns, len(begins) - 1)
        border = begins[-kept] if kept else len(shown)
        covered, tail = shown[:border], shown[border:]
        compaction = session.under = Under(self._new("c"), "compaction")
        summary = self._summary(session, covered)
        if isinstance(summary, str):
            # What an older summary covers is covered too, from the beginning of the path.
            first = session.path[0].id if covered[0].kind == "summary" else covered[0].id
            covers = (session.id, first, covered[-1].id)
            tail = [item for item in tail if item.kind != "summary"]
            session.add(Item(compaction.id, "summary", "", summary, covers=covers, kept=tail))
            self._over(session, compaction, "compacted")
        elif isinstance(summary, No):
            self._over(session, compaction, summary)
        return compaction

    def _summary(self, session: Session, covered: list[Item]) -> str | No | None:
        """The model's summary; None while it stalls."""
        answer = self.model(summary_prompt(session, covered))
        if isinstance(answer, Stalled):
            return None
        return (
            No("other") if isinstance(answer, Failed) else "\n".join(p.content for p in answer if isinstance(p, Text))
        )

    def branch(self, id_: str, target: str, *, summary: bool) -> Under | No:
        """Go on from an earlier item, on request with a summary of what is left (NAV)."""
        session = self._idle(id_)
        if isinstance(session, No):
            return session
        item = next((item for item in session.log if item.id == target), None)
        if item is None:
            return No("unknown-cut")
        old, (new, editor) = session.path, place_of(session, item)
        left = left_behind(old, new)
        moving = Under("", "branch")
        moved = {"position": new[-1].id if new else None, "editor": editor, "summary": None}
        if not summary or not left:
            session.path = new
            moving.stop = moved
            return moving
        session.under = moving
        text = self._summary(session, edited(left, old))
        if isinstance(text, str):
            session.path = new
            note = Item(self._new("i"), "left", "", text, covers=(session.id, "", old[-1].id))
            session.add(note)
            self._over(session, moving, {**moved, "summary": note.id})
        elif isinstance(text, No):
            self._over(session, moving, text)
        return moving

    def rewind(self, id_: str, turn: str) -> Under | No:
        """Go back to before a turn of the path."""
        session = self._idle(id_)
        if isinstance(session, No):
            return session
        first = next((item for item in session.path if item.kind == "user" and item.turn == turn), None)
        return No("unknown-cut") if first is None else self.branch(id_, first.id, summary=False)

    def reword(self, id_: str, kind: str, target: str, text: str) -> Item | No:
        """Name an item (label), or give the model other words for it from here on (edit)."""
        session = self._idle(id_)
        if isinstance(session, No):
            return session
        if target not in session.ways:
            return No("unknown-cut")
        item = Item(self._new("i"), "label" if kind == "label" else "edit", text=text, target=target)
        session.add(item)
        if kind == "label":
            relabel(session, target, Label(text, self._new("at"), item.id))
        return item
