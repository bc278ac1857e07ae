"""A program behind the open protocol: its answers, its errors, its end."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from forkproof.adapters import registry
from forkproof.adapters.authority import Configure, HookRun, HookSaid
from forkproof.adapters.errors import (
    AdapterError,
    Garbage,
    HarnessDied,
    HarnessHung,
    NotInstalled,
    StartFailed,
    UnknownHarness,
)
from forkproof.adapters.protocol import (
    Acknowledged,
    Cancel,
    Cut,
    Deadlines,
    Fork,
    Hook,
    OpenSession,
    Refused,
    SendPrompt,
    SessionOpened,
    ToolUse,
    TurnEnded,
    Unknown,
    Unsupported,
)
from forkproof.adapters.stdio.adapter import StdioAdapter
from forkproof.adapters.stdio.program import program
from tests.stdio.fakes import OTHERS_DROPPED, fake, running

OPEN = OpenSession("/somewhere")
FORK = Fork("s1", Cut("head"), "shared", "/somewhere")


def answered(folder: Path, operation: Any, method: str, answer: Any) -> Any:
    """What an operation gives for this answer of the program, or the error that it raises."""

    async def story() -> Any:
        async with running(fake(folder, {method: answer}), folder / "trial") as (adapter, _):
            try:
                return await adapter.perform(operation)
            except AdapterError as error:
                return error

    return asyncio.run(story())


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"sessionId": "s1"}, SessionOpened("s1")),
        ({"outcome": "done", "sessionId": "s1", "turns": ["t1"]}, SessionOpened("s1", ("t1",))),
        ({"outcome": "refused", "reason": "busy", "message": "no"}, Refused("busy", "no")),
        ({"outcome": "unsupported", "what": "that"}, Unsupported("that")),
        ({"outcome": "unknown", "why": "lost"}, Unknown("lost")),
    ],
)
def test_the_four_outcomes(answer: Any, expected: object, tmp_path: Path) -> None:
    """Design 5: an answer is done, refused, unsupported or unknown."""
    assert answered(tmp_path, OPEN, "session/open", answer) == expected


def test_what_a_program_does_not_know_is_unsupported(tmp_path: Path) -> None:
    """-32601 is no error: the operation is not there."""
    said = answered(tmp_path, FORK, "session/open", {"sessionId": "s1"})
    assert said == Unsupported("the adapter has no session/fork")


@pytest.mark.parametrize(
    ("operation", "method", "answer", "words"),
    [
        (OPEN, "session/open", {}, "session/open: sessionId: is missing"),
        (OPEN, "session/open", {"sessionId": 7}, "sessionId: a string is expected, not 7"),
        (OPEN, "session/open", {"sessionId": "s1", "sesion": 1}, "sesion: no such member; there are sessionId, turns"),
        (OPEN, "session/open", {"outcome": "maybe"}, "outcome: one of done, refused, unsupported, unknown"),
        (OPEN, "session/open", {"outcome": "refused", "reason": "tired", "message": ""}, "reason: one of busy,"),
        (
            FORK,
            "session/fork",
            {"record": {"sessionId": {"value": "s2", "origin": "guessed"}}},
            "record.sessionId.origin: one of reported, derived, absent is expected, not 'guessed'",
        ),
        (FORK, "session/fork", {"record": {"workspce": {}}}, "record.workspce: no such member"),
        (OPEN, "session/open", "this is no JSON", "not JSON"),
    ],
)
def test_a_wrong_answer_is_garbage_and_the_member_is_named(
    operation: Any, method: str, answer: Any, words: str, tmp_path: Path
) -> None:
    """Whoever wrote the adapter must find the member from the message alone."""
    error = answered(tmp_path, operation, method, answer)
    assert type(error) is Garbage
    assert words in error.cause
    assert error.hint


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"code": "harness-died", "hint": "look at its log"}, HarnessDied),
        ({"code": "harness-hung"}, HarnessHung),
        ({"code": "start-failed"}, StartFailed),
        ({"code": "no-such-code"}, AdapterError),
        (None, AdapterError),
    ],
)
def test_an_error_answer_is_an_error_of_the_kind_that_it_names(data: Any, kind: type, tmp_path: Path) -> None:
    """One class a phase, with the program's own words and hint."""
    told = {"error": {"code": -32000, "message": "the harness is gone", "data": data}}
    error = answered(tmp_path, OPEN, "session/open", told)
    assert type(error) is kind
    assert "session/open: the harness is gone (-32000)" in error.cause
    assert error.hint == "look at its log" if data and "hint" in data else error.hint


WHOLE = {"harness": "x", "version": "1", "model": "protocol"}


@pytest.mark.parametrize(
    ("answers", "kind", "words"),
    [
        ({"initialize": {"protocolVersion": 2}}, StartFailed, "version 2 of the adapter protocol, not 1"),
        ({"initialize": {"error": {"code": -32000, "message": "no"}}}, StartFailed, "refused `initialize`: no"),
        ({"initialize": "die"}, StartFailed, "exit code 3"),
        ({"initialize": "Hello!"}, Garbage, "not JSON"),
        ({"describe": {"harness": "x"}}, Garbage, "the answer to describe: version: is missing"),
        ({"describe": {"harness": "x", "version": "1", "wire": "telex"}}, Garbage, "wire: one of chat, "),
        ({"describe": {"harness": "", "version": "1", "model": "protocol"}}, Garbage, "must not be empty"),
        ({"describe": {**WHOLE, "deadline": 0}}, Garbage, "deadline: above 0"),
        ({"describe": {**WHOLE, "deadline": -1}}, Garbage, "deadline: above 0"),
        ({"describe": {**WHOLE, "deadline": 1e9}}, Garbage, "deadline: above 0"),
        ({"describe": {**WHOLE, "deadline": "long"}}, Garbage, "deadline: a number"),
        ({"describe": {"error": {"code": -1, "message": "why?"}}}, AdapterError, "describe: why? (-1)"),
    ],
)
def test_a_program_that_can_not_be_described(answers: Any, kind: type, words: str, tmp_path: Path) -> None:
    """It is told before anything runs."""
    with pytest.raises(kind) as caught:
        StdioAdapter(program(fake(tmp_path, answers)), Deadlines(start=60, stop=5))
    assert words in str(caught.value)


def test_a_program_can_ask_for_a_deadline_of_its_own(tmp_path: Path) -> None:
    """What it declares is what the suite is told; none, where it says nothing."""
    for told, deadline in (({}, None), ({"deadline": 180}, 180)):
        made = fake(tmp_path, {"describe": {**WHOLE, **told}})
        assert StdioAdapter(program(made)).describe().deadline == deadline


def test_it_is_described_once_until_it_changes(tmp_path: Path) -> None:
    """The description is kept by the state of the program's file."""
    place = fake(tmp_path, {"describe": {"harness": "one", "version": "1", "model": "protocol"}})
    assert StdioAdapter(program(place)).describe().harness == "one"
    first = StdioAdapter(program(place))._described
    assert StdioAdapter(program(place))._described is first
    fake(tmp_path, {"describe": {"harness": "another", "version": "1", "model": "protocol"}})
    described = StdioAdapter(program(place)).describe()
    assert (described.harness, len(described.binary_sha256)) == ("another", 64)


def test_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    """The deadline of the operation; then a TIMEOUT that says what it was doing, and no process."""

    async def story() -> None:
        place = fake(tmp_path, {"session/open": "hang"})
        deadlines = Deadlines(start=60, operation=0.5, stop=1)
        async with running(place, tmp_path / "trial", deadlines) as (adapter, _):
            with pytest.raises(HarnessHung, match=r"did not answer session/open within 0\.5 s"):
                await adapter.perform(OPEN)

    asyncio.run(story())


def test_a_program_that_dies_is_told(tmp_path: Path) -> None:
    error = answered(tmp_path, OPEN, "session/open", "die")
    assert type(error) is HarnessDied
    assert "exit code 3" in error.cause


CONCURRENT = """
waiting = []
def own(number, asked):
    if asked["method"] == "session/prompt":
        waiting.append(number)
        return
    send({"jsonrpc": "2.0", "id": number, "result": {}})
    send({"jsonrpc": "2.0", "id": waiting.pop(), "result": {"stopReason": "cancelled"}})
other = lambda asked: None
"""


def test_several_operations_are_under_way_at_once(tmp_path: Path) -> None:
    """A cancel must reach a session whose turn runs."""

    async def story() -> None:
        place = fake(tmp_path, {"session/prompt": "own", "session/cancel": "own"}, CONCURRENT)
        async with running(place, tmp_path / "trial") as (adapter, _):
            turn = asyncio.ensure_future(adapter.perform(SendPrompt("s1", "Go.")))
            await asyncio.sleep(0)
            assert await adapter.perform(Cancel("s1")) == Acknowledged()
            assert await turn == TurnEnded("cancelled")

    asyncio.run(story())


TELLING = """
def own(number, asked):
    pass
def other(asked):
    if asked.get("method") == "$/cancelRequest":
        open(os.environ["HOME"] + "/cancelled", "w").write(str(asked["params"]["id"]))
        send({"jsonrpc": "2.0", "id": 1, "method": "model/released", "params": {"name": "seen"}})
"""


def test_a_cancelled_request_is_told_to_the_program(tmp_path: Path) -> None:
    """`$/cancelRequest` with the id of the request."""
    seen = asyncio.Event()

    class Model:
        async def respond(self, request: Any) -> Any:
            raise AssertionError(request)

        async def released(self, stall: str) -> None:
            assert stall == "seen"
            seen.set()

    root = tmp_path / "trial"
    root.mkdir()

    async def story() -> None:
        place = fake(tmp_path, {"session/prompt": "own"}, TELLING)
        adapter = StdioAdapter(program(place))
        from forkproof.adapters.protocol import Trial

        await adapter.start(Trial(root, Model(), deadlines=Deadlines(stop=5)))
        try:
            turn = asyncio.ensure_future(adapter.perform(SendPrompt("s1", "Go.")))
            await asyncio.sleep(0)
            turn.cancel()
            await asyncio.wait_for(seen.wait(), 60)
        finally:
            await adapter.stop()

    asyncio.run(story())
    assert (root / "home" / "cancelled").read_text(encoding="utf-8") == "3"


ASKING = """
def own(number, asked):
    global held
    held = number
    send({"jsonrpc": "2.0", "id": "q", "method": QUESTION, "params": json.loads(PARAMS)})
def other(asked):
    if asked.get("id") == "q":
        said = json.dumps(asked.get("result", asked.get("error")), sort_keys=True)
        send({"jsonrpc": "2.0", "id": held, "result": {"sessionId": said}})
"""


class Person:
    """Allows everything once; its hook gives a context."""

    async def permit(self, question: Any) -> Any:
        assert (question.session, question.call) == ("s1", "call_1")
        return "allow_once"

    def run_hook(self, run: HookRun) -> HookSaid:
        return HookSaid(f"{run.hook} saw {run.session}", cancels=True)


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("person/permit", {"sessionId": "s1", "call": "call_1"}, '{"decision": "allow_once"}'),
        ("person/hook", {"hook": "h", "sessionId": "s1"}, '{"cancels": true, "context": "h saw s1"}'),
        ("model/respond", {"prompt": {"messages": []}}, '{"parts": [{"text": "Fine.", "type": "say"}]}'),
        ("model/respond", {"prompt": {"messages": [{"role": "judge"}]}}, "one of system, user, assistant, tool"),
        ("person/permit", {"session": "s1"}, "session: no such member; there are sessionId, call"),
        ("no/such", {}, "-32601"),
        ("workspace/copy", {"source": "/nowhere", "target": "/nowhere2"}, "no copy was made"),
    ],
)
def test_what_a_program_may_ask(method: str, params: Any, said: str, tmp_path: Path) -> None:
    """The model, the person, hooks, a copy; a wrong question is answered with what is wrong, not with silence."""

    async def story() -> None:
        extra = f"QUESTION = {method!r}\nPARAMS = {json.dumps(params)!r}\n{ASKING}"
        place = fake(tmp_path, {"session/open": "own"}, extra)
        root = tmp_path / "trial"
        async with running(place, root, person=Person(), hooks=(Hook("h", "start"),)) as (adapter, _):
            opened = await adapter.perform(OPEN)
            assert isinstance(opened, SessionOpened)
            assert said in opened.session

    asyncio.run(story())


def test_a_shell_tool_that_is_declared_gets_our_commands(tmp_path: Path) -> None:
    """`shell` in the description: every abstract tool is a command of it, in a directory of the suite's."""
    shell = {"tool": "bash", "argument": "cmd", "also": {"timeout": 9}}
    described = {"harness": "fake", "version": "1", "model": "protocol", "shell": shell}
    use = ToolUse("call_1", "w", "write", {"a.txt": "x"}, "[fp0.w.start]", "[fp0.w.end]")
    directories: list[str] = []

    async def story() -> None:
        place = fake(tmp_path, {"describe": described}, OTHERS_DROPPED)
        async with running(place, tmp_path / "trial") as (adapter, world):
            native = adapter.native_call(use)
            assert (native.name, native.arguments["timeout"]) == ("bash", 9)
            assert "a.txt" in native.arguments["cmd"]
            directory = world.create("main", {"b.txt": "y"})
            directories.append(directory)
            assert world.read(directory) == {"b.txt": "y"}

    asyncio.run(story())
    assert Path(directories[0], "b.txt").read_text(encoding="utf-8") == "y"


def test_any_other_tool_is_the_programs_to_name(tmp_path: Path) -> None:
    """`nativeCall`, asked on the spot."""
    use = ToolUse("call_1", "w", "write", {"a.txt": "x"}, "[fp0.w.start]", "[fp0.w.end]")

    async def story() -> None:
        native = {"name": "put", "arguments": {"path": "a.txt"}}
        async with running(fake(tmp_path, {"nativeCall": native}), tmp_path / "trial") as (adapter, _):
            assert adapter.native_call(use).arguments == {"path": "a.txt"}

    asyncio.run(story())


def test_a_program_without_a_native_call_ends_the_operation(tmp_path: Path) -> None:
    """The model's answer can't be given then: whoever waits for the turn is told why."""
    use = ToolUse("call_1", "w", "write", {}, "[fp0.w.start]", "[fp0.w.end]")

    async def story() -> None:
        async with running(fake(tmp_path), tmp_path / "trial") as (adapter, _):
            adapter.native_call(use)
            with pytest.raises(AdapterError, match="nativeCall: Method not found"):
                await adapter.perform(OPEN)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing", "there is no program"), ("plain", "may not be executed"), ("", "is not a file")],
)
def test_a_program_that_is_not_there(name: str, words: str, tmp_path: Path) -> None:
    """One clear message before anything is started."""
    (tmp_path / "plain").write_text("text", encoding="utf-8")
    with pytest.raises(NotInstalled, match=words) as caught:
        registry.find(f"{tmp_path}/{name}").create()
    assert caught.value.hint


def test_an_adapter_of_ones_own_comes_in_one_way(tmp_path: Path) -> None:
    with pytest.raises(UnknownHarness, match="no variant 'x'"):
        registry.find(f"{tmp_path}/a.py", "x")


def test_the_environment_is_built_from_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Design 5: a HOME below the trial, nothing of the user's."""
    monkeypatch.setenv("SECRET_OF_THE_USER", "1")
    extra = f"""{OTHERS_DROPPED}
def own(number, asked):
    send({{"jsonrpc": "2.0", "id": number, "result": {{"sessionId": json.dumps(dict(os.environ))}}}})
"""

    async def story() -> None:
        async with running(fake(tmp_path, {"session/open": "own"}, extra), tmp_path / "trial") as (adapter, _):
            opened = await adapter.perform(OPEN)
            assert isinstance(opened, SessionOpened)
            seen = json.loads(opened.session)
            assert seen["HOME"] == str(tmp_path / "trial" / "home")
            assert "SECRET_OF_THE_USER" not in seen

    asyncio.run(story())


def test_every_message_can_be_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """FORKPROOF_WIRE_LOG names a file; one that can't be written is told."""
    log = tmp_path / "wire.jsonl"
    monkeypatch.setenv("FORKPROOF_WIRE_LOG", str(log))
    assert answered(tmp_path, Configure("s1", {}), "session/configure", {}) == Acknowledged()
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    methods = [line["message"].get("method") for line in lines if line["direction"] == "out"]
    assert methods == ["initialize", "describe", "stop", "initialize", "start", "session/configure", "stop"]
    monkeypatch.setenv("FORKPROOF_WIRE_LOG", str(tmp_path / "no" / "such"))
    with pytest.raises(StartFailed, match="FORKPROOF_WIRE_LOG"):
        answered(tmp_path, OPEN, "session/open", {"sessionId": "s1"})
