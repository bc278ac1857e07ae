"""Stories of scopes and child agents on the reference harness."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from forkproof.reference.agents import BOUNDARY, assignment, start
from forkproof.reference.entries import Answered, Stamp, UserSaid, append
from forkproof.reference.model import Call, Failure, Reply
from forkproof.reference.prompt import Prompt, Text, ToolResult
from forkproof.reference.refusal import Refusal
from forkproof.reference.scopes import crosses
from tests.reference_stage import HEAD, Stage

TASK = {"task": "Look around.", "context": "inherit"}


def play(story: Coroutine[Any, Any, None]) -> None:
    """A story to its end; nothing of it may hang."""
    asyncio.run(asyncio.wait_for(story, 10))


class Boss:
    """Plays both models: one that delegates once, by the tool and arguments given, and one that answers."""

    def __init__(self, tool: str = "agent", arguments: Any = None) -> None:
        self.tool, self.arguments = tool, arguments or TASK
        self.prompts: list[Prompt] = []

    async def __call__(self, prompt: Prompt) -> Reply | Failure:
        """Delegate when the person says so, else answer."""
        self.prompts.append(prompt)
        last = prompt.messages[-1].parts[0]
        if isinstance(last, Text) and last.content == "delegate":
            return Reply((Call("call-1", "c", self.tool, self.arguments, "", ""),))
        return Reply((Text(f"answer {len(self.prompts)}"),))


def staged(model: Boss) -> Stage:
    return Stage(model)  # type: ignore[arg-type]  # any model will do


def test_a_scope_and_the_main_thread_do_not_see_each_other() -> None:
    """FLD-1, FLD-4: before it is folded nothing crosses, in either direction, and no session is made."""

    async def story() -> None:
        stage = Stage()
        await stage.turn("main one")
        scope = stage.harness.delegation.delegate(stage.main)
        assert isinstance(scope, str)
        await stage.harness.delegation.prompt(scope, "inside", "")
        assert not any("main one" in item for item in stage.last())
        await stage.turn("main two")
        assert not any("inside" in item for item in stage.last())
        assert stage.harness.sessions() == (stage.main,)

    play(story())


def test_folding_tells_who_said_what() -> None:
    """FLD-2, FLD-3: the agent's words are its own, a reviewer's come under the name, instructions stay out."""
    first = append(None, UserSaid("draft it"), Stamp("1", "s", "t1", 0))
    second = append(first, Answered((Text("Plan A."),), ()), Stamp("2", "s", "t1", 0))
    third = append(second, Answered((Text("No test."),), ()), Stamp("3", "s", "t2", 0))
    told = crosses([first, second, third], {"t2": "reviewer"}, folded=True)
    assert [(body.text, body.author) for body in told] == [("Plan A.", ""), ("No test.", "reviewer")]  # type: ignore[union-attr]  # these are Folded
    assert crosses([first, second, third], {}, folded=False) == ()


def test_what_can_not_be_delegated_or_folded_is_refused() -> None:
    """ATO-5: an unknown session or scope is a definite no."""
    delegation = Stage().harness.delegation
    assert isinstance(delegation.delegate("ghost"), Refusal)
    assert isinstance(delegation.fold("ghost"), Refusal)
    assert isinstance(delegation.state("ghost"), Refusal)


def test_a_child_agent_answers_once_and_is_no_session() -> None:
    """OPS-5: its words are the result of the call that made it, and nothing else of it reaches the parent."""

    async def story() -> None:
        model = Boss()
        stage = staged(model)
        await stage.turn("hello")
        await stage.turn("delegate")
        results = [p.response for m in model.prompts[-1].messages for p in m.parts if isinstance(p, ToolResult)]
        assert results == ["answer 3"]
        assert stage.harness.sessions() == (stage.main,)
        state = stage.harness.delegation.state(stage.main)
        assert not isinstance(state, Refusal)
        assert state.usage == 4  # hello, the spawn call, the child's answer, the last word

    play(story())


def test_an_inheriting_agent_begins_before_the_answer_that_made_it() -> None:
    """SUB-1, SUB-2: so neither its own call nor a sibling's task is in its context."""
    said = append(None, UserSaid("split"), Stamp("1", "s", "t", 0))
    spawned = append(said, Answered((), ("left", "right")), Stamp("2", "s", "t", 0))
    assert start(spawned, "left", "inherit") is said
    assert start(spawned, "left", "none") is None


def test_a_task_behind_copied_history_has_a_note_before_it() -> None:
    """SUB-4: without history there is nothing to mark off."""
    leaf = append(None, UserSaid("x"), Stamp("1", "s", "t", 0))
    assert assignment("Do.", leaf) == f"{BOUNDARY}\nDo."
    assert assignment("Do.", None) == "Do."


def test_an_agent_is_its_owners_alone() -> None:
    """SUB-3: a handle that was copied reaches nobody, and asks no model."""

    async def story() -> None:
        model = Boss()
        stage = staged(model)
        await stage.turn("delegate")
        child = await stage.fork(HEAD)
        model.tool, model.arguments = "tell", {"agent": "call-1", "text": "more"}
        before = len(model.prompts)
        await stage.turn("delegate", child.session)
        assert len(model.prompts) == before + 2  # the child's own two requests, none of the agent
        await stage.turn("delegate")
        assert len(model.prompts) == before + 2 + 3

    play(story())


def test_a_failing_tool_says_so() -> None:
    """TOOL-2: an errand that makes no sense is a failed call, not a crash."""

    async def story() -> None:
        for tool in ("agent", "tell", "schedule"):
            model = Boss(tool, "nonsense")
            stage = staged(model)
            await stage.turn("delegate")
            results = [p.response for m in model.prompts[-1].messages for p in m.parts if isinstance(p, ToolResult)]
            assert "nonsense" in results[0]

    play(story())


def test_a_wake_up_starts_a_turn_of_its_own_session() -> None:
    """STA-2: when it is due, once, and never before."""

    async def story() -> None:
        model = Boss("schedule", {"after": 60, "text": "wake"})
        stage = staged(model)
        await stage.turn("delegate")
        await stage.fork(HEAD)
        before = len(model.prompts)
        await stage.harness.delegation.advance(59)
        assert len(model.prompts) == before
        await stage.harness.delegation.advance(1)
        assert len(model.prompts) == before + 1
        assert model.prompts[-1].session == stage.main
        await stage.harness.delegation.advance(600)
        assert len(model.prompts) == before + 1

    play(story())
