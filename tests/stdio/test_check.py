"""`forkproof adapter init` and `check`, and the example in Node."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from forkproof.adapters.stdio.finding import Finding
from forkproof.adapters.stdio.fuzz import CASES
from forkproof.adapters.stdio.program import program
from forkproof.adapters.stdio.skeleton import LANGUAGES
from forkproof.adapters.stdio.smoke import Smoke
from forkproof.conformance.cli import main
from tests.stdio.fakes import OTHERS_DROPPED, fake

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "node-adapter" / "adapter.mjs"


def forkproof(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def findings(place: Path, deadline: str = "60") -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code of a check, and its findings by name."""
    done = forkproof("adapter", "check", str(place), "--json", "--deadline", deadline)
    told = json.loads(done.stdout)
    assert told["ok"] is (done.exit_code == 0)
    return done.exit_code, {each["name"]: each for each in told["findings"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_init_writes_passes_the_check(language: str, tmp_path: Path) -> None:
    """As generated: the story to its end, and every case of the fuzz."""
    done = forkproof("adapter", "init", "--lang", language, str(tmp_path / "mine"))
    assert done.exit_code == 0, done.output
    place = tmp_path / "mine" / LANGUAGES[language]
    assert f"forkproof adapter check {place}" in done.stdout
    code, found = findings(place)
    assert {name: each for name, each in found.items() if each["status"] != "ok"} == {}
    assert code == 0
    assert len(found) == 6 + len(CASES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_init_never_overwrites(language: str, tmp_path: Path) -> None:
    """A file of that name stays as it is."""
    place = tmp_path / LANGUAGES[language]
    place.write_text("mine", encoding="utf-8")
    done = forkproof("adapter", "init", "--lang", language, str(tmp_path))
    assert done.exit_code == 3
    assert "File exists" in done.stderr
    assert place.read_text(encoding="utf-8") == "mine"


def test_the_example_in_node_passes_the_check() -> None:
    """Design 5: a complete example, without dependencies."""
    code, found = findings(EXAMPLE)
    assert (code, {each["status"] for each in found.values()}) == (0, {"ok"})


def test_the_example_in_node_forks_right(tmp_path: Path) -> None:
    """A core of the traces that apply to it; CI plays them all."""
    traces = ("cut/edit-then-fork-shared", "cut/edit-then-fork-isolated", "tool/cancelled-call-then-fork",
              "snap/fork-while-the-source-runs", "cmp/a-fork-of-a-compacted-fork", "rec/fork-record")  # fmt: skip
    done = forkproof("run", str(EXAMPLE), *traces, "--out", str(tmp_path), "--json", "-j", "1")
    assert done.exit_code == 0, done.output


BAD = """
import signal
def own(number, asked):
    pass
other = lambda asked: None
"""


@pytest.mark.parametrize(
    ("answers", "name", "came"),
    [
        ({"describe": {"harness": "x"}}, "describe", "version: is missing"),
        ({"start": {"error": {"code": -1, "message": "no disk"}}}, "start", "no disk"),
        ({}, "session/open", "has no session/open"),
        ({"session/open": {"sessionId": "s"}, "session/prompt": "hang"}, "session/prompt", "no answer within 15 s"),
        (
            {"session/open": {"sessionId": "s"}, "session/prompt": {"stopReason": "end_turn"}},
            "session/prompt",
            "no request came to the model",
        ),
    ],
)
def test_the_story_ends_at_the_first_failure(answers: Any, name: str, came: str, tmp_path: Path) -> None:
    """With what was expected, what came, and a hint; what was started is ended."""
    found = asyncio.run(story(fake(tmp_path, answers, BAD), tmp_path, 15.0 if "hang" in answers.values() else 60.0))
    failed = next(each for each in found if each.status == "failed")
    assert failed.name == name
    assert came in failed.came
    assert failed.hint
    assert failed.expected
    after = found[found.index(failed) + 1 :]
    assert [(each.name, each.status) for each in after] == ([] if name == "describe" else [("stop", "ok")])


async def story(place: Path, folder: Path, seconds: float) -> list[Finding]:
    """The findings of the first story alone."""
    smoke = Smoke(program(place), folder, seconds)
    found = [smoke.described()]
    if found[0].status == "ok":
        async with smoke.served() as endpoint:
            found += [each async for each in smoke.story(endpoint)]
    return found


def test_what_can_not_be_described_ends_the_check(tmp_path: Path) -> None:
    """Exit 2: nothing could be run."""
    code, found = findings(fake(tmp_path, {"describe": {"harness": "x"}}))
    assert (code, list(found)) == (2, ["describe"])


SLOPPY = """
def own(number, asked):
    print("log: asked to open")
    send({"jsonrpc": "2.0", "id": number, "result": {"sessionId": "s"}})
other = lambda asked: print("what is", asked)
"""


def test_fuzz_finds_what_a_sloppy_program_does(tmp_path: Path) -> None:
    """A program that dies of garbage, writes logs to standard output, and does what makes no sense."""
    answers = {"session/open": "own", "session/prompt": {"stopReason": "end_turn"}, "session/fork": "hang"}
    code, found = findings(fake(tmp_path, answers, SLOPPY), "15")
    failed = {name for name, each in found.items() if each["status"] == "failed"}
    assert code == 1
    assert {"no JSON", "JSON, no object", "answers to nothing", "an unknown notification"} <= failed
    assert {"a session before `start`", "a session that was never opened", "another version"} & failed
    assert "no JSON objects" in found["an unknown notification"]["came"]
    assert "exit code 1" in found["no JSON"]["came"]
    assert all(found[name]["hint"] for name in failed)


CLINGING = f"""{OTHERS_DROPPED}
import signal, subprocess
started = False
def own(number, asked):
    global started
    started = True
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    send({{"jsonrpc": "2.0", "id": number, "result": {{}}}})
class Held:
    def __iter__(self):
        yield from sys.__stdin__
        if started:
            subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            time.sleep(600)
sys.stdin = Held()
"""


def test_a_program_that_outlives_its_input_is_found_and_ended(tmp_path: Path) -> None:
    """It is told, and nothing of it runs afterwards."""
    import psutil

    code, found = findings(fake(tmp_path, {"start": "own", "session/open": {"sessionId": "s"}}, CLINGING), "15")
    assert code == 1
    assert found["the input is closed"]["came"] == "it runs on"
    left = [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(p.info["cmdline"] or ())]
    assert left == []


@pytest.mark.parametrize(("name", "code", "words"), [("missing.py", 2, "there is no program"), (None, 3, "PROGRAM")])
def test_wrong_uses_are_one_line(name: str | None, code: int, words: str, tmp_path: Path) -> None:
    """Exit 2 for a program that is not there, 3 for a wrong use."""
    done = forkproof("adapter", "check", *([str(tmp_path / name)] if name else []))
    assert done.exit_code == code
    assert words in done.stderr
