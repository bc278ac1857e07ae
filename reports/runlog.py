"""run.jsonl: written as a run goes, so that a run that is killed keeps all that it saw; and read back, whole or not.

Source: design sections 8 and 12.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from forkproof.reports.events import (
    READABLE_VERSIONS,
    Checked,
    Event,
    JsonObject,
    Note,
    Observed,
    RunEnded,
    RunStarted,
    TraceStarted,
    Verdict,
)
from forkproof.reports.lines import MalformedEvent, decode, encode
from forkproof.reports.redaction import Redactor

__all__ = ["FILE_NAME", "PACKED_NAME", "RunLog", "RunLogError", "RunRecord", "UnreadableRun", "UnwritableRun", "read"]

FILE_NAME = "run.jsonl"
PACKED_NAME = "run.jsonl.xz"
"""A record that is kept for others: compressed, and without its volatile members."""


class RunLogError(Exception):
    """A run's record is of no use. `cause` says what is wrong and where, `hint` what to do about it."""

    code: ClassVar[str] = "run-log"

    def __init__(self, cause: str, hint: str = "") -> None:
        self.cause = cause
        self.hint = hint
        super().__init__(f"[{self.code}] {cause}" + (f"\n  hint: {hint}" if hint else ""))


class UnwritableRun(RunLogError):
    """run.jsonl can't be written: no such place, no permission, no space. What was written before stands."""

    code = "unwritable-run"


class UnreadableRun(RunLogError):
    """A file is no record of a run: not there, garbled, or of another version. The cause names the line."""

    code = "unreadable-run"


class RunLog:
    """Writes a run's events to `DIRECTORY/run.jsonl`, each handed to the system before `emit` returns.

    An older run.jsonl is replaced when the first line of the new one is on disk, not before. When the disk is full (or
    gone) `emit` raises `UnwritableRun` once, removes the half-written line, and ignores all later events: the record
    then has no end, and says so to whoever reads it.
    """

    def __init__(self, directory: Path, redactor: Redactor | None = None) -> None:
        self.path = directory / FILE_NAME
        self._redactor = redactor or Redactor()
        self._draft = directory / f".{FILE_NAME}.{os.getpid()}"
        self._handle: int | None = None
        self._size = 0
        self._failed = False

    def __enter__(self) -> Self:
        """Make the directory and see that it can be written to. Raises `UnwritableRun`."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        except OSError as error:
            raise self._unwritable(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def emit(self, event: Event) -> None:
        """Write one line. Raises `UnwritableRun`, and `MalformedEvent` for a payload that is no JSON."""
        if self._failed:
            return
        if self._handle is None:
            raise ValueError("the log is not open: use it in a `with` statement")
        if self._size == 0 and not isinstance(event, RunStarted):
            raise ValueError("the first event of a run is RunStarted")
        line = encode(event, self._redactor) + "\n"
        try:
            self._append(self._handle, line.encode("ascii"))
        except OSError as error:
            self._failed = True
            with suppress(OSError):  # a disk that is gone can't even be cut; the reader copes with half a line
                os.ftruncate(self._handle, self._size)
            raise self._unwritable(error) from error

    def _append(self, handle: int, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(handle, rest) :]
        if self._size == 0:
            self._draft.replace(self.path)
        self._size += len(line)

    def close(self) -> None:
        """Let go of the file; a log that never got a line leaves nothing behind."""
        if self._handle is None:
            return
        os.close(self._handle)
        self._handle = None
        if self._size == 0:
            self._draft.unlink(missing_ok=True)

    def _unwritable(self, error: OSError) -> UnwritableRun:
        what = error.strerror or str(error)
        return UnwritableRun(
            f"{self.path} can't be written: {what}",
            "make room, or give `--out` a directory that you may write to; the lines before this one are kept",
        )


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as it was recorded. `truncated`: the last line was cut off, and is left out."""

    path: Path
    events: tuple[Event, ...]
    truncated: bool = False

    @property
    def started(self) -> RunStarted:
        """The header."""
        return next(e for e in self.events if isinstance(e, RunStarted))

    @property
    def ended(self) -> RunEnded | None:
        """The footer; none if the run was killed."""
        last = self.events[-1]
        return last if isinstance(last, RunEnded) else None

    @property
    def complete(self) -> bool:
        """Whether every selected trace was played and judged, and all of it is here."""
        return self.ended is not None and self.ended.complete

    @property
    def observations(self) -> tuple[Observed, ...]:
        """What was seen, a trace each, in the order of the run."""
        return tuple(e for e in self.events if isinstance(e, Observed))

    @property
    def checks(self) -> tuple[Checked, ...]:
        """The verdicts, in the order of the run."""
        return tuple(e for e in self.events if isinstance(e, Checked))

    @property
    def notes(self) -> tuple[Note, ...]:
        """What else was said."""
        return tuple(e for e in self.events if isinstance(e, Note))

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Slugs of the traces that began and were never observed: where a killed run was."""
        seen = {e.trace for e in self.observations}
        return tuple(e.trace for e in self.events if isinstance(e, TraceStarted) and e.trace not in seen)


def read(path: Path) -> RunRecord:
    """The record at `path`, a run.jsonl, one that is compressed as run.jsonl.xz, or the directory that holds one.

    A run that was killed is read as far as it goes. Raises `UnreadableRun`, with the line's number, for anything that a
    kill does not explain.
    """
    file = _within(path) if path.is_dir() else path
    try:
        content = _content(file)
    except OSError as error:
        raise UnreadableRun(
            f"{file} can't be read: {error.strerror or error}", "`forkproof run ... --out DIR` writes DIR/run.jsonl"
        ) from error
    whole, newline, rest = content.rpartition(b"\n")
    events = [_event(file, n, line) for n, line in _numbered(whole + newline)]
    truncated = False
    if rest:
        try:
            events.append(_event(file, len(events) + 1, rest))
        except UnreadableRun:
            truncated = True
    _check_order(file, events)
    return RunRecord(file, tuple(events), truncated)


def _within(folder: Path) -> Path:
    plain, packed = folder / FILE_NAME, folder / PACKED_NAME
    return packed if packed.is_file() and not plain.is_file() else plain


def _content(file: Path) -> bytes:
    if file.suffix != ".xz":
        return file.read_bytes()
    import lzma

    try:
        return lzma.decompress(file.read_bytes())
    except (lzma.LZMAError, EOFError) as error:
        raise UnreadableRun(
            f"{file}: not compressed as .xz, or cut off ({error})", "take it again from where it was published"
        ) from error


def _numbered(content: bytes) -> Iterator[tuple[int, bytes]]:
    return enumerate(content.split(b"\n")[:-1], start=1)


def _event(file: Path, number: int, line: bytes) -> Event:
    try:
        data = json.loads(line.decode("utf-8"))
        if number == 1:
            _check_version(file, data)
        return decode(data)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UnreadableRun(
            f"{file}:{number}: not JSON ({error})",
            "the file was changed after the run; up to the line before, it may still be good",
        ) from error
    except MalformedEvent as error:
        raise UnreadableRun(
            f"{file}:{number}: not an event of a run: {error}", "`forkproof schema run` prints what a line may hold"
        ) from error


def _check_version(file: Path, data: JsonObject) -> None:
    version = data.get("schema") if isinstance(data, dict) else None
    if version not in (None, *READABLE_VERSIONS):
        *older, newest = map(str, READABLE_VERSIONS)
        readable = f"{', '.join(older)} and {newest}"
        raise UnreadableRun(
            f"{file}:1: the record's schema is version {version}, this forkproof reads versions {readable}",
            "read it with the version of forkproof that the first line names as `suite`",
        )


def _check_order(file: Path, events: list[Event]) -> None:
    """A header first and once, nothing after the footer, and a footer that counts what the lines hold."""
    if not events or not isinstance(events[0], RunStarted):
        raise UnreadableRun(
            f"{file}:1: not the first line of a run",
            'a record begins with a line {"event":"run", ...}; this file may be another one or have lost its beginning',
        )
    for number, event in enumerate(events[1:], start=2):
        if isinstance(event, RunStarted):
            raise UnreadableRun(f"{file}:{number}: a second run begins here", "keep one run in a file")
        if isinstance(events[number - 2], RunEnded):
            raise UnreadableRun(f"{file}:{number}: stands after the end of the run", "keep one run in a file")
    last = events[-1]
    if isinstance(last, RunEnded):
        counted = Counter(e.verdict for e in events if isinstance(e, Checked))
        if {k: v for k, v in last.counts.items() if v} != dict(counted):
            raise UnreadableRun(
                f"{file}:{len(events)}: the end counts {_told(last.counts)}; the lines before it hold {_told(counted)}",
                "lines were lost or added after the run",
            )


def _told(counts: Mapping[Verdict, int] | Mapping[str, int]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())) or "no check"
