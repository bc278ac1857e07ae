"""Settings, permission modes, approvals and hooks of the reference. Clauses SET, AUT, OPS-4, OPS-6."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.reference.approvals import Decision, Given, Question, answered
from forkproof.reference.cut import Point
from forkproof.reference.entries import Entry
from forkproof.reference.harness import Harness
from forkproof.reference.hooks import Started
from forkproof.reference.inherit import inherit
from forkproof.reference.model import Reply
from forkproof.reference.permissions import MODES, need, strictest
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.semantics import CONTRACT
from forkproof.reference.session import Session
from tests.reference_models import Script, call, items, say
from tests.reference_stage import HEAD, SHARED

COUNT = {"go": [Reply((call("c", "count", "n"),)), say("done")]}


@dataclass(slots=True)
class Someone:
    """A person who answers each question with the next decision, and has one start hook and one before forks."""

    decisions: list[Decision] = field(default_factory=list)
    objection: str = ""
    asked: list[Question] = field(default_factory=list)
    started: list[Started] = field(default_factory=list)

    async def __call__(self, question: Question) -> Decision:
        self.asked.append(question)
        return self.decisions.pop(0)

    def at_start(self, run: Started) -> tuple[str, ...]:
        self.started.append(run)
        return (f"rules for {run.session}",)

    def before_fork(self, source: str) -> str:
        return self.objection and f"{source}: {self.objection}"


@dataclass(slots=True)
class House:
    """A harness with a person, and one session."""

    harness: Harness
    person: Someone
    model: Script
    main: str

    async def fork(self, point: Point = HEAD, source: str = "", **overrides: str) -> Record:
        made = await self.harness.fork(source or self.main, point, replace(SHARED, overrides=overrides))
        assert isinstance(made, Record)
        return made

    def choose(self, session: str = "", **settings: str) -> Entry | Refusal:
        return self.harness.authority.configure(session or self.main, settings)

    def runs(self) -> int:
        return self.harness.machine.runs().get("n", 0)


Story = Callable[[House], Coroutine[Any, Any, None]]


def tell(story: Story, *decisions: Decision, mode: str = "ask", policy: Any = CONTRACT) -> House:
    """Play a story in a house whose session has this permission mode."""
    person, model = Someone(list(decisions)), Script(COUNT)

    async def played() -> House:
        harness = Harness(model, semantics=policy, person=person, hooks=person)
        harness.machine.create("/main", {})
        session = harness.open("/main", {"permissions": mode})
        assert isinstance(session, Session)
        house = House(harness, person, model, session.header.id)
        await story(house)
        return house

    return asyncio.run(played())


# --- settings --------------------------------------------------------------------------------------------------------

changes = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from(["model", "effort"]), st.sampled_from("abc")),
        st.tuples(st.just("turn"), st.just(""), st.just("")),
        st.tuples(st.just("fork"), st.sampled_from(["model", ""]), st.sampled_from("xyz")),
    ),
    max_size=8,
)


@given(changes, st.data())
def test_settings_are_those_of_the_path_under_what_was_given(program: list[tuple[str, str, str]], data: Any) -> None:
    """SET-1, SET-2, SET-8: a list of values by turn, copied at each fork, tells what a child has at any cut."""

    async def story(house: House) -> None:
        session, now = house.main, {"model": "reference-model", "effort": "medium"}
        at: list[tuple[str, dict[str, str]]] = []
        for what, name, value in program:
            if what == "set":
                assert isinstance(house.choose(session, **{name: value}), Entry)
                now = {**now, name: value}
            elif what == "turn":
                ended = await house.harness.prompt(session, "hello")
                at.append((getattr(ended, "turn"), now))  # noqa: B009  # an `Ended`, or this fails
                sent = house.model.prompts[-1]
                assert (sent.model, sent.settings["effort"]) == (now["model"], now["effort"])
            elif at:
                turn, then = data.draw(st.sampled_from(at))
                given_ = {name: value} if name else {}
                record = await house.fork(Point("before", turn), session, **given_)
                session, now = record.session, {**then, **given_}
                at = at[: [t for t, _ in at].index(turn)]
                # What was given with a fork holds for all of it, also for what it inherited.
                at = [(t, {**values, **given_}) for t, values in at]
                assert {n: record.settings[n].value for n in now} == now

    tell(story)


@given(st.sampled_from(MODES), st.sampled_from(MODES), st.sampled_from(["cut", "latest"]))
def test_no_child_is_looser_than_its_source(at_cut: str, now: str, source: Any) -> None:
    """AUT-2: whatever the policy, the mode is the stricter of the two that the source had; only an override loosens."""
    found = inherit({"permissions": at_cut}, {}, {"permissions": now}, source)["permissions"]
    assert found.value == strictest(at_cut, now)
    assert found.value == (at_cut if found.origin == "cut" else now)
    loosened = inherit({"permissions": at_cut}, {"permissions": "auto"}, {"permissions": now}, source)["permissions"]
    assert tuple(loosened) == ("auto", "override")


def test_latest_settings_are_the_other_policy() -> None:
    """SET-1: where `settings_source` is latest a fork at an early cut has the newest settings, and says so."""

    async def story(house: House) -> None:
        ended = await house.harness.prompt(house.main, "hello")
        house.choose(model="new")
        record = await house.fork(Point("before", getattr(ended, "turn")))  # noqa: B009  # an `Ended`, or this fails
        assert tuple(record.settings["model"]) == ("new", "latest")
        await house.harness.prompt(record.session, "hello")
        assert house.model.prompts[-1].model == "new"

    tell(story, policy=replace(CONTRACT, settings_source="latest"))


@pytest.mark.parametrize("settings", [{"permissions": "padlocked"}, {"tools": ("read", "teleport")}])
def test_what_can_not_be_put_into_force_is_refused(settings: dict[str, Any]) -> None:
    """AUT-3: at opening, at a change and at a fork alike; nothing is written, no hook runs."""

    async def story(house: House) -> None:
        leaf, started = getattr(house.harness.session(house.main), "leaf"), len(house.person.started)  # noqa: B009
        assert isinstance(house.harness.open("/main", settings), Refusal)
        assert isinstance(house.harness.authority.configure(house.main, settings), Refusal)
        assert isinstance(await house.harness.fork(house.main, HEAD, replace(SHARED, overrides=settings)), Refusal)
        assert getattr(house.harness.session(house.main), "leaf") is leaf  # noqa: B009
        assert len(house.person.started) == started
        assert house.harness.sessions() == (house.main,)

    tell(story)


def test_settings_of_a_busy_session_do_not_change() -> None:
    """A turn has the settings that it began with."""

    async def story(house: House) -> None:
        house.model.hold = frozenset({"wait"})
        turn = asyncio.ensure_future(house.harness.prompt(house.main, "wait"))
        await house.model.asked.wait()
        changed = house.choose(model="other")
        assert isinstance(changed, Refusal)
        assert changed.reason == "busy"
        await house.harness.cancel(house.main)
        await turn

    tell(story)


# --- permission modes and approvals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "tool", "wanted"),
    [
        ("read-only", "read", "run"),
        ("read-only", "write", "deny"),
        ("ask", "read", "run"),
        ("ask", "count", "ask"),
        ("auto", "count", "run"),
        ("padlocked", "count", "deny"),
    ],
)
def test_what_a_tool_needs(mode: str, tool: str, wanted: str) -> None:
    """AUT-3: each mode as it is described; a mode that nobody knows lets nothing run that changes something."""
    assert need(mode, tool) == wanted


@given(st.lists(st.builds(
    Given, st.sampled_from(["a", "b"]), st.just("c"), st.sampled_from(["count", "write"]),
    st.sampled_from(["allow_once", "allow_for_session", "allow_always", "reject"]),
)))  # fmt: skip
def test_only_an_answer_for_more_than_one_call_answers_another(given_: list[Given]) -> None:
    """AUT-1, AUT-5: one for the session there, one for always everywhere; `once` and `no` never again."""
    for session in ("a", "b"):
        for tool in ("count", "write"):
            allowed = any(
                e.tool == tool
                and (e.decision == "allow_always" or (e.decision == "allow_for_session" and e.session == session))
                for e in given_
            )
            assert (answered(given_, session, tool) is not None) == allowed


def test_an_approval_for_the_session_is_not_its_forks() -> None:
    """AUT-1, OPS-6: the fork asks again, in its own name, and its record lists no grant."""

    async def story(house: House) -> None:
        await house.harness.prompt(house.main, "go")
        await house.harness.prompt(house.main, "go")
        record = await house.fork()
        assert record.grants == ()
        await house.harness.prompt(record.session, "go")
        assert [question.session for question in house.person.asked] == [house.main, record.session]
        assert house.runs() == 2
        assert items(house.model.prompts[-1])[-1] == "failed id-c"

    tell(story, "allow_for_session", "reject")


def test_an_approval_for_always_is_for_every_session() -> None:
    """AUT-1: that is what the person said."""

    async def story(house: House) -> None:
        await house.harness.prompt(house.main, "go")
        await house.harness.prompt((await house.fork()).session, "go")
        assert (len(house.person.asked), house.runs()) == (1, 2)

    tell(story, "allow_always")


def test_a_mode_given_with_the_fork_is_enforced() -> None:
    """AUT-2, AUT-3, SET-2: in the child alone."""

    async def story(house: House) -> None:
        record = await house.fork(permissions="auto")
        assert tuple(record.settings["permissions"]) == ("auto", "override")
        await house.harness.prompt(record.session, "go")
        await house.harness.prompt((await house.fork()).session, "go")
        assert (len(house.person.asked), house.runs()) == (0, 1)

    tell(story, mode="read-only")


# --- hooks -----------------------------------------------------------------------------------------------------------


def test_start_hooks_run_once_per_start_and_speak_once() -> None:
    """SET-4, SET-5: at opening, at a fork and when a stored session is opened again, each time with its own words."""

    async def story(house: House) -> None:
        record = await house.fork()
        await house.harness.prompt(record.session, "hello")
        assert items(house.model.prompts[-1])[0] == f"rules for {record.session}"
        await house.harness.restart(kill=False)
        house.harness.resume(record.session)
        house.harness.resume(record.session)
        await house.harness.prompt(record.session, "hello")
        assert [i for i in items(house.model.prompts[-1]) if i.startswith("rules")] == [f"rules for {record.session}"]
        assert [(run.session, run.cause, run.source) for run in house.person.started] == [
            (house.main, "new", None),
            (record.session, "fork", house.main),
            (record.session, "resume", house.main),
        ]

    tell(story)


def test_a_hook_that_objects_leaves_nothing() -> None:
    """OPS-4: a definite no of its own reason, no session, and no hook has run for one."""

    async def story(house: House) -> None:
        house.person.objection = "not today"
        refusal = await house.harness.fork(house.main, HEAD, SHARED)
        assert isinstance(refusal, Refusal)
        assert (refusal.reason, "not today" in refusal.message) == ("cancelled", True)
        assert house.harness.sessions() == (house.main,)
        assert len(house.person.started) == 1

    tell(story)
