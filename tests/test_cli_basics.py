"""The command line: light to start, one line for an error, the exit codes of design section 6, data for programs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from forkproof.adapters.registry import known
from forkproof.conformance.cli import COMMANDS, Subcommand, main
from forkproof.conformance.cli.schema import SCHEMAS

HEAVY = ("pydantic", "yaml", "rich", "pytest", "_pytest", "aiohttp", "asyncio", "pyfakefs", "deepdiff", "psutil")
START = """
import json, sys, time
from forkproof.conformance.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    print(json.dumps({"exit": end.code, "cpu": time.process_time(), "modules": list(sys.modules)}), file=sys.stderr)
"""


def forkproof(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(main, arguments, env=environment)


def started(*arguments: str) -> dict[str, Any]:
    """Run in a fresh interpreter: its exit code, CPU seconds and loaded modules."""
    command = [sys.executable, "-c", START, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    told: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    return told | {"stdout": done.stdout}


# --- start-up ---------------------------------------------------------------------------------------------------------


def test_version_is_cheap() -> None:
    """`forkproof --version` takes at most 0.25 CPU-seconds and loads no library that a command needs."""
    runs = [started("--version") for _ in range(3)]
    assert runs[0]["stdout"].split()[0] == "forkproof"
    assert runs[0]["exit"] == 0
    assert [name for name in HEAVY if name in runs[0]["modules"]] == []
    assert min(run["cpu"] for run in runs) <= 0.25


@pytest.mark.parametrize("arguments", [[], ["--help"], ["no-such-command"]])
def test_help_and_slips_are_cheap_too(arguments: list[str]) -> None:
    """The list of commands comes from one table; no command is imported to print it or to miss it."""
    assert [name for name in HEAVY if name in started(*arguments)["modules"]] == []


def test_the_installed_command_is_this_one() -> None:
    """The script that pip installs runs the group."""
    script = Path(sys.executable).with_name("forkproof")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.split()[0]) == (0, "forkproof")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_where_the_table_says(name: str) -> None:
    """Each entry leads to a command, and has a help page under its full name."""
    command = COMMANDS[name].load()
    assert isinstance(command, click.Command)
    shown = forkproof(name, "--help")
    assert shown.exit_code == 0
    assert shown.output.startswith(f"Usage: forkproof {name} ")


@pytest.mark.parametrize(
    "command", ["run", "list", "list harnesses", "list traces", "list clauses", "explain", "lint", "schema"]
)
def test_help_has_examples(command: str) -> None:
    """A help page shows how a command is really used."""
    assert "Example" in forkproof(*command.split(), "--help").output


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnu"], "no such command: rnu; did you mean run?"),
        (["xyzzy"], "no such command: xyzzy; known are run, rejudge,"),
        (["--colour"], "no such option"),
        (["lint", "--jsn"], "no such option"),
        (["explain"], "missing argument"),
        (["schema", "traces"], "'traces' is not one of 'trace', 'run'"),
        (["lint", "no/such/path"], "no such trace file or folder"),
        (["list", "traces", "nothing-like-it"], "no such trace file or folder"),
        (["list", "clauses", "CUTT"], "no area CUTT in the contract; did you mean `CUT`?"),
        (["explain", "CUT-111"], "nothing is known of 'CUT-111'; did you mean `CUT-1`?"),
        (["explain", "fpl99"], "nothing is known of 'fpl99'"),
        (["explain", "not-instaled"], "did you mean `not-installed`?"),
        (["explain", "cut/edit-then-fork-shared::CUT-11"], "did you mean `cut/edit-then-fork-shared::CUT-1`?"),
        (["explain", "busy-source"], "did you mean `busy_source`?"),
    ],
)
def test_a_wrong_use_is_one_line_and_exit_3(arguments: list[str], said: str) -> None:
    """What is wrong and what was probably meant, on standard error; nothing on standard output."""
    result = forkproof(*arguments)
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith("forkproof: error: ")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr


@pytest.mark.parametrize("group", ["list", "harness"])
def test_a_group_alone_shows_its_help(group: str) -> None:
    """Without a subcommand nothing was done: the help page goes to standard error, with the code of a wrong use."""
    result = forkproof(group)
    assert result.exit_code == 3
    assert (result.stdout, f"Usage: forkproof {group}" in result.stderr) == ("", True)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> str:
    """A command that breaks."""

    @click.command()
    def broken() -> None:
        """Break."""
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr(Subcommand, "load", lambda _: broken)
    return next(iter(COMMANDS))


def test_a_fault_of_our_own_is_one_line_and_exit_4(faulty: str) -> None:
    """No traceback reaches a user, and it is told whose fault it is."""
    result = forkproof(faulty)
    assert result.exit_code == 4
    assert result.stderr == (
        "forkproof: error: a fault of forkproof itself: RuntimeError: first line second line"
        " (FORKPROOF_DEBUG=1 shows where)\n"
    )


def test_a_developer_can_see_the_traceback(faulty: str) -> None:
    """FORKPROOF_DEBUG=1 lets the error through."""
    result = forkproof(faulty, FORKPROOF_DEBUG="1")
    assert isinstance(result.exception, RuntimeError)


@pytest.mark.parametrize(
    ("end", "code"), [(SystemExit(2), 2), (click.exceptions.Exit(1), 1), (KeyboardInterrupt(), 130)]
)
def test_a_command_chooses_its_exit_code(monkeypatch: pytest.MonkeyPatch, end: BaseException, code: int) -> None:
    """By `sys.exit` or click's own; an interruption has the shell's code."""

    @click.command()
    def ending() -> None:
        """End."""
        raise end

    monkeypatch.setattr(Subcommand, "load", lambda _: ending)
    assert forkproof(next(iter(COMMANDS))).exit_code == code


def test_a_closed_pipe_is_no_error() -> None:
    """`forkproof list clauses | head -1` ends without a word."""
    command = [sys.executable, "-c", "from forkproof.conformance.cli import main; main()", "list", "clauses", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""


# --- list -------------------------------------------------------------------------------------------------------------


def data(*arguments: str, **environment: str) -> list[dict[str, Any]]:
    result = forkproof(*arguments, **environment)
    assert result.exit_code == 0
    told: list[dict[str, Any]] = json.loads(result.stdout)
    return told


def test_lists_clauses_with_the_checks_that_cite_them() -> None:
    """Every clause of the contract, and the same checks that the traces have."""
    clauses, traces = data("list", "clauses", "--json"), data("list", "traces", "--json")
    assert len(clauses) == 126
    told = {
        "id",
        "area",
        "area_title",
        "level",
        "profile",
        "text",
        "sources",
        "checks",
        "traces",
        "mutants",
        "untested",
    }
    assert set(clauses[0]) == told
    cited = [check for clause in clauses for check in clause["checks"]]
    assert sorted(cited) == sorted(check for trace in traces for check in trace["checks"])
    assert len(cited) == len(set(cited)) > 50


def test_lists_traces_with_what_they_need_and_check() -> None:
    """Slug, title, needs, clauses and check ids of each trace; an area lists its own."""
    traces = data("list", "traces", "cut", "--json")
    shared = next(t for t in traces if t["slug"] == "cut/edit-then-fork-shared")
    assert shared["needs"] == ["fork.before", "tool.write"]
    assert "cut/edit-then-fork-shared::CUT-1" in shared["checks"]
    assert set(shared["clauses"]) == {c.partition("::")[2].partition("#")[0] for c in shared["checks"]}
    assert all(t["slug"].startswith("cut/") for t in traces)


def test_lists_harnesses_also_those_that_are_not_installed(tmp_path: Path) -> None:
    """What a harness declares if it is there; else what is wrong and how it is mended."""
    told = data("list", "harnesses", "--json", FORKPROOF_HOME=str(tmp_path), PATH=str(tmp_path))
    assert [h["name"] for h in told] == [entry.name for entry in known()]
    by_name = {h["name"]: h for h in told}
    assert by_name["reference"]["installed"]
    assert "fork.before" in by_name["reference"]["capabilities"]
    assert not by_name["codex"]["installed"]
    assert by_name["codex"]["error"]["code"] == "not-installed"
    for entry in told:
        # What a harness declares is known before anybody has it.
        assert {"route", "wire", "capabilities", "policies", "pinned"} <= set(entry)
        assert entry["capabilities"]
    assert "not installed" in forkproof("list", "harnesses", FORKPROOF_HOME=str(tmp_path), PATH=str(tmp_path)).stdout


def test_lists_for_people_line_by_line() -> None:
    """One entry a line, whole where the output is no terminal, with numbers that agree with their nouns."""
    lines = forkproof("list", "clauses", "CUT").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [f"CUT-{n}" for n in range(1, 9)]
    assert lines[0].endswith("hold the prefix up to the cut and nothing from after it.")
    assert not any(" 1 checks" in line for line in lines)


def test_a_broken_trace_ends_a_listing_with_its_problems(tmp_path: Path) -> None:
    """A listing is whole or says why it is not."""
    (tmp_path / "bad.yaml").write_text("trace: 1\ntitle: x\n", encoding="utf-8")
    result = forkproof("list", "traces", str(tmp_path))
    assert result.exit_code == 3
    assert "bad.yaml:1:1: FPL012 `steps` is missing\n" in result.stderr
    assert result.stderr.endswith("forkproof: error: 1 of 1 trace can't be read\n")


# --- explain ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("CUT-1", ["MUST, core", "nothing from after it.", "Sources: seed 000", "  cut/edit-then-fork-shared::CUT-1"]),
        ("cut-1", ["CUT-1  MUST"]),
        ("PERF-1", ["SHOULD, extended", "  perf/forks-of-forks-grow-by-their-own-turns::PERF-1"]),
        ("SET-2", ["Sources: our own"]),
        ("CUT", ["Cut boundary", "CUT-8"]),
        ("FPL034", ["policy choices left out", "unless"]),
        ("not-installed", ["verdict CRASH", "forkproof harness install"]),
        ("harness-hung", ["verdict TIMEOUT"]),
        ("busy_source", ["last-committed", "refuse"]),
        ("workspace.isolated", ["capability", "copy of the workspace"]),
        ("cut/edit-then-fork-shared", ["Needs: fork.before, tool.write", "::CUT-1"]),
        ("cut/edit-then-fork-shared::CUT-1", ["edit-then-fork-shared.yaml:", "- turn: retry", "CUT-1: {prompt: ["]),
    ],
)
def test_explains(word: str, said: list[str]) -> None:
    """Clauses, areas, codes of the linter and of harnesses, words of the language, traces and checks."""
    result = forkproof("explain", word)
    assert result.exit_code == 0
    assert [text for text in said if text not in result.stdout] == []


def test_explains_every_clause_and_code() -> None:
    """What is printed anywhere as an id can be asked about."""
    from forkproof.adapters.errors import codes
    from forkproof.conformance.trace.codes import RULES
    from forkproof.conformance.vocabulary import CAPABILITIES, POLICIES

    others = ["bad-recipe", "unwritable-run", "unreadable-run"]
    words = ["CUT-7", "AUT-5", "FLD-4", *RULES, *codes(), *others, *CAPABILITIES, *POLICIES]
    assert [word for word in words if forkproof("explain", word).exit_code != 0] == []


# --- lint and schema --------------------------------------------------------------------------------------------------


GOOD = """\
trace: 1
title: One turn
steps:
  - turn: one
    user: Hello.
    model: [{say: Hi.}]
    expect:
      - CUT-1: {prompt: [one.user]}
"""


def test_lint_says_nothing_of_a_good_trace(tmp_path: Path) -> None:
    """Exit 0, an empty standard output, and the count on standard error."""
    (tmp_path / "good.yaml").write_text(GOOD, encoding="utf-8")
    result = forkproof("lint", str(tmp_path))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "1 trace, 0 problems\n")
    assert json.loads(forkproof("lint", str(tmp_path), "--json").stdout) == []


def test_lint_prints_problems_and_exits_1(tmp_path: Path) -> None:
    """One line a problem; as JSON one object a problem with the same facts."""
    path = tmp_path / "bad.yaml"
    path.write_text(GOOD.replace("CUT-1", "CUT-111"), encoding="utf-8")
    result = forkproof("lint", str(path))
    assert result.exit_code == 1
    assert result.stdout == f"{path}:8:9: FPL020 no clause CUT-111 in the contract; did you mean `CUT-1`?\n"
    assert result.stderr == "1 trace, 1 problem\n"
    told = forkproof("lint", str(path), "--json")
    assert told.exit_code == 1
    assert json.loads(told.stdout) == [
        {
            "file": str(path),
            "line": 8,
            "column": 9,
            "code": "FPL020",
            "message": "no clause CUT-111 in the contract; did you mean `CUT-1`?",
        }
    ]


def test_lint_of_a_folder_without_traces_is_a_wrong_use(tmp_path: Path) -> None:
    """Nothing was checked, so it is not 0."""
    assert forkproof("lint", str(tmp_path)).exit_code == 3


@pytest.mark.parametrize("name", SCHEMAS)
def test_prints_schemas(name: str) -> None:
    """Each name gives a JSON Schema of the draft that it says."""
    result = forkproof("schema", name)
    assert result.exit_code == 0
    schema = json.loads(result.stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)
