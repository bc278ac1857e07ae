"""Plays programs on two sides, step by step, and stops at the first difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

from tests.deep import program as p
from tests.deep.same import Names
from tests.deep.script import Answer, Said, Used, written_out
from tests.deep.side import Ask, Pending, Plain, Side, shown
from tests.deep.story import Story, model

__all__ = ["Disagreement", "Play"]

_FILES: Final = {"a": "one\n", "d/a": "two\none\n"}
_PLAYED_BY: Final[Mapping[type, str]] = {
    p.Branch: "_branch",
    p.Cancel: "_cancel",
    p.Compact: "_compact",
    p.Configure: "_configure",
    p.Delete: "_delete",
    p.Fork: "_fork",
    p.Import: "_import",
    p.Open: "_open",
    p.PersonWrites: "_person_writes",
    p.Read: "_read",
    p.Release: "_release",
    p.Restart: "_restart",
    p.Reword: "_reword",
    p.Say: "_say",
    p.Turn: "_turn",
}


class Disagreement(AssertionError):
    """The two sides differ; the message holds where, and the program as a trace."""


class Play:
    """One program on two sides; both start with a session in a directory with files, and with one directory more."""

    def __init__(self, setup: p.Setup, first: Side, second: Side) -> None:
        self._sides = (first, second)
        self._names = Names()
        self._under_way: list[tuple[Pending, Pending]] = []
        self._states: list[Plain] = []
        self._commands: list[str] = []
        self._made = 0
        self.story = Story(asdict(setup))
        for side in self._sides:
            side.create("/main", _FILES)
            side.create("/there", {"b": "there\n"})
        self._at_once([side.open("/main", {}) for side in self._sides])
        self._compare()

    def run(self, steps: Sequence[p.Step]) -> None:
        """Play all steps, end what is under way, and give every session one more message. Raises `Disagreement`."""
        for step in steps:
            self._step(step)
        while self._commands:
            self._step(p.Release(0))
        for _ in range(len(steps) + 1):
            # What waited behind a stalled turn may stall too.
            for number in range(self._count() if self._under_way else 0):
                self._step(p.Cancel(number))
        for number in range(self._count()):
            self._resume(number)
            self._step(p.Read(number, number))
            self._step(p.Turn(number, ()))
        if self._under_way:
            self._disagree("something never ends")

    def close(self) -> None:
        """The end of both sides."""
        for side in self._sides:
            side.close()

    # --- steps -----------------------------------------------------------------------------------------------------

    def _step(self, step: p.Step) -> None:
        getattr(self, _PLAYED_BY[type(step)])(step)
        self._compare()

    def _cancel(self, step: p.Cancel) -> None:
        self.story.tell(cancel=self._name(step.session))
        self._begin([side.cancel(self._session(n, step.session)) for n, side in enumerate(self._sides)])

    def _person_writes(self, step: p.PersonWrites) -> None:
        directory = self._states[0]["sessions"][step.session % self._count()]["directory"]
        self.story.tell(user_edits={step.path: step.text}, in_=self._name(step.session))
        self._same("a person's edit", [side.person_writes(directory, step.path, step.text) for side in self._sides])

    def _open(self, step: p.Open) -> None:
        self.story.tell(open=f"s{self._count()}", exists=step.exists, settings=dict(step.settings))
        directory = "/main" if step.exists else "/nowhere"
        self._at_once([side.open(directory, dict(step.settings)) for side in self._sides])

    def _turn(self, step: p.Turn) -> None:
        text = f"u{self._new()}"
        answers = self._script(text, step.rounds)
        self.story.tell(turn=text, in_=self._name(step.session), user=text, model=model(answers))
        self._begin([side.prompt(self._session(n, step.session), text) for n, side in enumerate(self._sides)])

    def _script(self, text: str, rounds: Sequence[p.Round]) -> list[Answer]:
        """What the model will answer to this message."""
        answers = written_out(text[1:], rounds)
        calls = [part for answer in answers if not isinstance(answer, str) for part in answer if isinstance(part, Used)]
        self._commands += [call.id for call in calls if call.tool == "wait" and call.arguments == "release"]
        for side in self._sides:
            side.script.answers[text] = answers
        return answers

    def _say(self, step: p.Say) -> None:
        text = f"u{self._new()}"
        if step.how == "steer":
            self.story.tell(steer=text, in_=self._name(step.session))
            self._at_once([side.steer(self._session(n, step.session), text) for n, side in enumerate(self._sides)])
            return
        answers = self._script(text, step.rounds)
        self.story.tell(queue=text, in_=self._name(step.session), user=text, model=model(answers))
        self._begin([side.queue(self._session(n, step.session), text) for n, side in enumerate(self._sides)])

    def _branch(self, step: p.Branch) -> None:
        summary = f"m{self._new()}"
        for side in self._sides:
            side.script.summary = step.trouble or [Said(summary)]
        at = [self._entry(n, step) if step.how != "unknown" else "nowhere" for n in range(2)]
        if step.how == "rewind":
            turns = [state["sessions"][step.session % self._count()]["points"] for state in self._states]
            names = [str(found[step.entry % len(found)][0].name) if found else "" for found in turns]
            self.story.tell(rewind=names[0], in_=self._name(step.session))
            self._at_once([s.rewind(self._session(n, step.session), names[n]) for n, s in enumerate(self._sides)])
            return
        accepted = step.how == "summary"
        wanted = (step.trouble or summary) if accepted else False
        self.story.tell(branch=self._place(step), in_=self._name(step.session), summary=wanted)
        self._begin(
            [s.branch(self._session(n, step.session), at[n], summary=accepted) for n, s in enumerate(self._sides)]
        )

    def _reword(self, step: p.Reword) -> None:
        text = "" if step.how == "clear" else f"u{self._new()}"
        kind = "edit" if step.how == "edit" else "label"
        self.story.tell(**{kind: self._place(step)}, in_=self._name(step.session), text=text)
        self._at_once(
            [
                side.reword(self._session(n, step.session), kind, self._entry(n, step), text)
                for n, side in enumerate(self._sides)
            ]
        )

    def _read(self, step: p.Read) -> None:
        number = step.session
        entries = self._states[0]["sessions"][number % self._count()]["entries"]
        since = [None if step.since % (len(entries) + 1) == 0 else self._entry(n, step) for n in range(2)]
        self._same("the reading", [s.reading(self._session(n, number), since[n]) for n, s in enumerate(self._sides)])

    def _entry(self, side: int, step: p.Branch | p.Reword | p.Read | p.Fork) -> str:
        entries = self._states[side]["sessions"][step.session % self._count()]["entries"]
        return str(entries[_number(step) % len(entries)][0].name) if entries else "nowhere"

    def _place(self, step: p.Branch | p.Reword | p.Fork) -> str:
        """An entry as a trace's reader may find it: its number in the listing, and what it is."""
        entries = self._states[0]["sessions"][step.session % self._count()]["entries"]
        number = _number(step) % len(entries) if entries else 0
        return f"entry {number}, {entries[number][1]}" if entries else "nowhere"

    def _restart(self, step: p.Restart) -> None:
        self.story.tell(restart="kill" if step.kill else "clean", left_asleep=step.left)
        self._begin([side.restart(kill=step.kill) for side in self._sides])
        self._compare()
        for number in range(self._count()):
            if number + 1 != step.left:
                self._resume(number)

    def _resume(self, number: int) -> None:
        self._at_once([side.resume(self._session(n, number)) for n, side in enumerate(self._sides)])

    def _delete(self, step: p.Delete) -> None:
        if step.whole and self._count() > 1:
            self.story.tell(delete=self._name(step.session))
            self._at_once([side.delete(self._session(n, step.session)) for n, side in enumerate(self._sides)])
            return
        points = [state["sessions"][step.session % self._count()]["points"] for state in self._states]
        turns = [str(found[step.turn % len(found)][0].name) if found else "nowhere" for found in points]
        self.story.tell(delete_turn=turns[0], in_=self._name(step.session))
        self._at_once(
            [side.delete_turns(self._session(n, step.session), [turns[n]]) for n, side in enumerate(self._sides)]
        )

    def _configure(self, step: p.Configure) -> None:
        chosen = dict(step.settings)
        self.story.tell(set=chosen, in_=self._name(step.session))
        self._at_once([side.configure(self._session(n, step.session), chosen) for n, side in enumerate(self._sides)])

    def _compact(self, step: p.Compact) -> None:
        summary = f"m{self._new()}"
        self.story.tell(compact=summary, in_=self._name(step.session), model=step.trouble or summary)
        for side in self._sides:
            side.script.summary = step.trouble or [Said(summary)]
        self._begin([side.compact(self._session(n, step.session)) for n, side in enumerate(self._sides)])

    def _fork(self, step: p.Fork) -> None:
        number = self._new()
        asks = [self._ask(side, step, f"/copy{number}") for side in range(2)]
        cut: dict[str, Plain] = {"head": True} if step.kind == "head" else {step.kind: self._turn_name(step)}
        self.story.tell(
            fork=f"s{self._count()}",
            in_=self._name(step.session),
            workspace="isolated" if asks[0].isolated else "shared",
            directory="" if step.place in ("shared", "isolated") else asks[0].directory,
            settings=dict(step.overrides),
            **cut,
        )
        self._begin([side.fork(self._session(n, step.session), asks[n]) for n, side in enumerate(self._sides)])

    def _ask(self, side: int, step: p.Fork, new: str) -> Ask:
        own = self._states[side]["sessions"][step.session % self._count()]["directory"]
        directory = {"shared": own, "isolated": new, "other": "/there", "wrong": "/nowhere"}[step.place]
        if step.place == "wrong" and step.turn % 2:
            # A snapshot at a place that is taken is refused as well.
            return Ask(step.kind, self._turn_id(side, step), "/there", isolated=True, overrides=dict(step.overrides))
        isolated = step.place == "isolated"
        return Ask(step.kind, self._turn_id(side, step), directory, isolated=isolated, overrides=dict(step.overrides))

    def _points(self, side: int, step: p.Fork) -> list[list[Plain]]:
        """The turns that a fork may name: those of its session, or those of every session."""
        sessions = self._states[side]["sessions"]
        if step.where == "any":
            return [point for session in sessions for point in session["points"]]
        points: list[list[Plain]] = sessions[step.session % self._count()]["points"]
        return points if step.where == "own" else []

    def _turn_id(self, side: int, step: p.Fork) -> str:
        points = self._points(side, step)
        if step.kind == "head":
            return ""
        if step.kind == "at":
            return self._entry(side, step)
        if points:
            return str(points[step.turn % len(points)][0].name)
        return ("", "nowhere")[step.turn % 2]

    def _turn_name(self, step: p.Fork) -> str:
        points = self._points(0, step)
        if step.kind == "at":
            return self._place(step)
        return str(points[step.turn % len(points)][1]) if points else "nowhere"

    def _release(self, step: p.Release) -> None:
        if not self._commands:
            return
        command = self._commands.pop(step.command % len(self._commands))
        self.story.tell(release=command)
        for side in self._sides:
            side.release(command)

    def _import(self, step: p.Import) -> None:
        past = []
        for number in range(step.turns):
            made = self._new()
            past.append((1000 if step.tied else 1000 - number, f"u{made}", f"s{made}"))
        turns = [{"turn": user, "at": at, "user": user, "say": say} for at, user, say in past]
        self.story.tell(import_=f"s{self._count()}", turns=turns)
        self._at_once([side.import_history("/main", past) for side in self._sides])

    # --- comparing -------------------------------------------------------------------------------------------------

    def _at_once(self, answers: Sequence[Plain]) -> None:
        self._same("the answer", answers)

    def _begin(self, pending: Sequence[Pending]) -> None:
        first, second = pending
        self._under_way.append((first, second))

    def _compare(self) -> None:
        """Let both sides go on as far as they can; then all that they asked, answered and hold must be the same."""
        for side in self._sides:
            side.settle()
        # Sessions first: every other answer may name them.
        before, self._states = self._states, [side.state() for side in self._sides]
        if before != self._states:
            self._same("the state", [_changed(*two) for two in zip(before or ({}, {}), self._states, strict=True)])
        self._same("the prompts", [_by_session(*pair) for pair in zip(self._sides, self._states, strict=True)])
        still = []
        for pair in self._under_way:
            answers = [pending() for pending in pair]
            self._same("the answer", answers)
            if answers[0] is None:
                still.append(pair)
        self._under_way = still

    def _same(self, what: str, values: Sequence[Plain]) -> None:
        difference = self._names.difference(values[0], values[1])
        if difference is not None:
            self._disagree(f"{what}{difference}")

    def _disagree(self, trouble: str) -> None:
        raise Disagreement(self.story.text(trouble))

    # --- names -----------------------------------------------------------------------------------------------------

    def _new(self) -> int:
        self._made += 1
        return self._made

    def _count(self) -> int:
        return len(self._states[0]["sessions"])

    def _session(self, side: int, number: int) -> str:
        return str(self._states[side]["sessions"][number % self._count()]["session"].name)

    def _name(self, number: int) -> str:
        place = number % self._count()
        return f"s{place}" if place else "main"


def _number(step: p.Branch | p.Reword | p.Read | p.Fork) -> int:
    """Which entry a step means."""
    match step:
        case p.Read(since=number) | p.Fork(turn=number):
            return number
        case p.Branch() | p.Reword():
            return step.entry


def _changed(before: Plain, state: Plain) -> Plain:
    """A state, where all sessions that are as they were before are left out: they were the same on both sides then."""
    known = {session["session"]: session for session in before.get("sessions", ())}
    new = [None if known.get(session["session"]) == session else session for session in state["sessions"]]
    return {**state, "sessions": new}


def _by_session(side: Side, state: Plain) -> Plain:
    """The prompts since the last look, of each session in order; two sessions at once have no common order."""
    prompts: dict[str, list[Plain]] = defaultdict(list)
    for prompt in side.script.taken():
        prompts[prompt.session or ""].append(shown(side, prompt))
    order = [session["session"].name for session in state["sessions"]]
    return [prompts.pop(name, []) for name in order] + list(prompts.values())
