"""run.jsonl: what was seen stays, whatever happens to the run; what is read is what was written, or is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forkproof.reports.events import Checked, Event, Observed, RunStarted, TraceStarted
from forkproof.reports.lines import MalformedEvent, encode
from forkproof.reports.redaction import Redactor
from forkproof.reports.runlog import RunLog, RunRecord, UnreadableRun, UnwritableRun, read
from tests import sample_runs as sample

IMPORTS = """
import os, resource, signal, sys
from pathlib import Path
from forkproof.reports.lines import encode
from forkproof.reports.runlog import RunLog, UnwritableRun
from tests import sample_runs
"""


def write(directory: Path, events: Sequence[Event], redactor: Redactor | None = None) -> Path:
    """Write the events as a run would, and give the file."""
    with RunLog(directory, redactor) as log:
        for event in events:
            log.emit(event)
    return log.path


def program(body: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run some Python that has the sample runs at hand, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", IMPORTS + body, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=Path(__file__).parent.parent,
    )


def test_a_run_reads_back_whole(tmp_path: Path) -> None:
    """All events come back, typed and in order, from the file or from its directory."""
    events = sample.red()
    path = write(tmp_path / "out" / "codex", events)
    record = read(path.parent)
    assert record == read(path) == RunRecord(path, tuple(events))
    assert record.complete
    assert not record.truncated
    assert record.started.harness.name == "codex"
    assert [c.id for c in record.checks] == [e.id for e in events if isinstance(e, Checked)]
    assert len(record.observations) == 3
    assert record.notes[0].level == "warning"
    assert record.unfinished == ()


def test_equal_runs_are_equal_bytes(tmp_path: Path) -> None:
    """Two runs that saw the same are the same file, apart from what is volatile (design section 11)."""
    one, other = write(tmp_path / "1", sample.red()), write(tmp_path / "2", sample.red())
    assert one.read_bytes() == other.read_bytes()
    later = [replace(e, volatile={"seconds": 99.0}) for e in sample.red()]
    third = write(tmp_path / "3", later)
    assert third.read_bytes() != one.read_bytes()
    assert _stable(third) == _stable(one)


def _stable(path: Path) -> list[dict[str, object]]:
    lines: list[dict[str, object]] = [json.loads(line) for line in path.read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "volatile"} for line in lines]


def test_each_line_is_on_disk_when_emit_returns(tmp_path: Path) -> None:
    """A reader that looks while the run goes sees every event that was emitted."""
    events = sample.green()
    with RunLog(tmp_path) as log:
        for number, event in enumerate(events, start=1):
            log.emit(event)
            assert len(log.path.read_text().splitlines()) == number


def test_a_killed_process_keeps_its_lines(tmp_path: Path) -> None:
    """After SIGKILL in the middle of a trace all lines before it stand, and the record says that it has no end."""
    body = """
with RunLog(Path(sys.argv[1])) as log:
    for event in sample_runs.red()[:3]:
        log.emit(event)
    log.emit(sample_runs.TraceStarted(trace="cut/deadly"))
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = program(body, tmp_path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    record = read(tmp_path)
    assert record.events[:3] == tuple(sample.red()[:3])
    assert record.ended is None
    assert not record.complete
    assert not record.truncated
    assert record.unfinished == ("cut/deadly",)


@settings(deadline=None)
@given(keep=st.floats(0, 1))
def test_a_file_cut_anywhere_is_read_as_far_as_it_goes(keep: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Cut after any byte, a record gives the events whose lines are whole, and tells whether a line was lost."""
    events = sample.crashed()
    content = "".join(encode(e) + "\n" for e in events).encode()
    cut = content[: round(keep * len(content))]
    *lines, rest = cut.split(b"\n")
    whole = len(lines) + (rest == encode(events[min(len(lines), len(events) - 1)]).encode())
    path = tmp_path_factory.mktemp("cut") / "run.jsonl"
    path.write_bytes(cut)
    if whole == 0:
        with pytest.raises(UnreadableRun, match=r"run\.jsonl:1: not the first line of a run"):
            read(path)
        return
    record = read(path)
    assert record.events == tuple(events[:whole])
    assert record.truncated == (rest != b"" and whole == len(lines))
    assert record.complete == (whole == len(events))


def test_an_old_record_stands_until_a_new_one_begins(tmp_path: Path) -> None:
    """A run that fails before its first event leaves the last record as it was, and no rubbish beside it."""
    path = write(tmp_path, sample.red())
    before = path.read_bytes()
    with RunLog(tmp_path):
        pass
    assert path.read_bytes() == before
    with RunLog(tmp_path) as log:
        log.emit(sample.started())
        assert read(tmp_path).events == (sample.started(),)
    assert [p.name for p in tmp_path.iterdir()] == ["run.jsonl"]


def test_closing_twice_is_allowed(tmp_path: Path) -> None:
    """The recorder closes its consumers, and the `with` statement does so again."""
    with RunLog(tmp_path) as log:
        log.emit(sample.started())
        log.close()
    assert read(tmp_path).started == sample.started()


def test_a_full_disk_is_told_once(tmp_path: Path) -> None:
    """When no more can be written there is one error that says so; later events are let go, earlier lines are whole."""
    body = """
events = sample_runs.red()
size = sum(len(encode(e)) + 1 for e in events[:4]) + 10
with RunLog(Path(sys.argv[1])) as log:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    for number, event in enumerate(events):
        try:
            log.emit(event)
        except UnwritableRun as error:
            print(number, error)
"""
    done = program(body, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"4 [unwritable-run] {tmp_path / 'run.jsonl'} can't be written: File too large")
    assert done.stdout.count("[unwritable-run]") == 1
    assert "hint: make room" in done.stdout
    record = read(tmp_path)
    assert record.events == tuple(sample.red()[:4])
    assert not record.complete
    assert not record.truncated


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_place_that_can_not_be_is_told_before_the_run(tmp_path: Path, place: str) -> None:
    """An impossible `--out` is an error at the start, with the path in it, not after an hour of work."""
    (tmp_path / "file").write_text("mine")
    with (
        pytest.raises(UnwritableRun, match=r"run\.jsonl can't be written: .*(exists|Not a directory)"),
        RunLog(tmp_path / place),
    ):
        pytest.fail("the log opened")
    assert (tmp_path / "file").read_text() == "mine"


def test_the_first_event_is_the_header(tmp_path: Path) -> None:
    """A record without a header would be unreadable, so none is begun."""
    with RunLog(tmp_path) as log, pytest.raises(ValueError, match="RunStarted"):
        log.emit(TraceStarted(trace="cut/x"))
    assert list(tmp_path.iterdir()) == []


def test_a_payload_that_is_no_json_leaves_the_file_whole(tmp_path: Path) -> None:
    """An event of ours that can't be written is refused as such, and the run goes on without it."""
    with RunLog(tmp_path) as log:
        log.emit(sample.started())
        with pytest.raises(MalformedEvent):
            log.emit(Observed(trace="cut/x", runs={"bad": {1, 2}}))
        log.emit(TraceStarted(trace="cut/y"))
    assert len(read(tmp_path).events) == 2


def test_what_is_written_is_redacted(tmp_path: Path) -> None:
    """Home paths and keys stay out of the file (design section 8); the events themselves are as they were."""
    event = Observed(trace="cut/x", volatile={"stderr": "/home/ada/.codex: bad key sk-123"})
    path = write(tmp_path, [sample.started(), event], Redactor.of(homes=["/home/ada"], keys=["sk-123"]))
    assert "$HOME/.codex: bad key $KEY" in path.read_text()
    assert event.volatile["stderr"].startswith("/home/ada")


HEADER, *REST = (encode(e) for e in sample.green())


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], r":1: not the first line of a run"),
        (REST, r":1: not the first line of a run"),
        (["", HEADER], r":1: not JSON"),
        ([HEADER, "{oops}", *REST], r":2: not JSON"),
        ([HEADER, '"a word"', *REST], r":2: not an event of a run: the line"),
        ([HEADER, REST[0].replace('"event":"trace"', '"event":"tarce"'), *REST], r":2: .*'tarce'"),
        (
            [HEADER, *REST[:2], REST[2].replace('"level":"MUST"', '"level":"MAY"')],
            r":4: .*check\.level.*'MUST' or 'SHOULD'",
        ),
        ([HEADER, HEADER, *REST], r":2: a second run begins here"),
        ([HEADER, *REST, REST[0]], rf":{len(REST) + 2}: stands after the end"),
        ([HEADER, *REST[:2], *REST[3:]], r":13: the end counts .*5 PASS; the lines before it hold .*4 PASS"),
        (
            [HEADER.replace('"schema":3', '"schema":4'), *REST],
            r":1: the record's schema is version 4, .* reads versions 1, 2 and 3",
        ),
        ([HEADER, "\N{LATIN SMALL LETTER E WITH ACUTE}", *REST], r":2: not JSON"),
    ],
)
def test_garbled_records_are_refused_with_the_line(tmp_path: Path, lines: list[str], told: str) -> None:
    """What a kill does not explain is not guessed at: the error names file, line and reason."""
    path = tmp_path / "run.jsonl"
    path.write_text("".join(line + "\n" for line in lines), encoding="latin-1")
    with pytest.raises(UnreadableRun, match=r"run\.jsonl" + told) as caught:
        read(path)
    assert caught.value.hint


def test_a_missing_record_is_told(tmp_path: Path) -> None:
    """A path without a record gives the path and the way to get one."""
    with pytest.raises(UnreadableRun, match=r"nowhere can't be read: No such file .*\n  hint: .*--out DIR"):
        read(tmp_path / "nowhere")


def test_every_run_has_its_header(tmp_path: Path) -> None:
    """The header of a record is typed and says what was certified, by what."""
    header = read(write(tmp_path, sample.green())).started
    assert isinstance(header, RunStarted)
    assert (header.schema, header.suite, header.contract.revision, header.traces.count) == (3, "0.1.0", "1", 3)
    assert header.adapter.capabilities == ["fork.before", "tool.write"]
