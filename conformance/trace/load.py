"""Loads traces: files found in order, text to typed steps, every problem of a file at its place, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from forkproof.conformance.trace.document import parse
from forkproof.conformance.trace.model import Trace
from forkproof.conformance.trace.place import Place
from forkproof.conformance.trace.problem import Problem, TraceError
from forkproof.conformance.trace.source import MAX_BYTES
from forkproof.conformance.trace.validation import problems_of

__all__ = [
    "LoadedTrace",
    "NoTraceError",
    "Problem",
    "TraceError",
    "discover",
    "load",
    "load_bytes",
    "shipped_root",
    "slug_of",
]

SUFFIXES = (".yaml", ".yml")


class NoTraceError(Exception):
    """A path that was asked for does not exist, or has no trace in it."""


@dataclass(frozen=True, slots=True)
class LoadedTrace:
    """A trace and where it comes from.

    `slug` is the path below the traces root without suffix, `cut/edit-then-fork-shared`: the first half of its checks'
    ids. `sha256` is over the file's bytes. `positions` holds the place of every key and value.
    """

    trace: Trace
    slug: str
    path: Path
    sha256: str
    positions: Place


def load(path: Path, root: Path | None = None) -> LoadedTrace:
    """Read one trace. Without a root, it is the one that `slug_of` finds.

    Raises `TraceError` with every problem of the file, each with line and column.
    """
    return load_bytes(_read(path), path=path, slug=slug_of(path, root))


def load_bytes(data: bytes, *, slug: str, path: Path | None = None) -> LoadedTrace:
    """As `load`, for a trace that is already in memory. Raises `TraceError`."""
    file = str(path) if path else slug
    document = parse(data, file)
    problems = list(document.problems)
    if not isinstance(document.value, dict):
        if not problems:
            problems.append(
                Problem(file, 1, 1, "FPL010", "a trace is a mapping: `trace: 1`, `title: ...`, `steps: ...`")
            )
        raise TraceError(problems)
    try:
        # Only the names of the language: `in`, not the Python attribute `in_`.
        trace = Trace.model_validate(document.value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise TraceError([*problems, *problems_of(error, document, file)]) from None
    if problems:
        raise TraceError(problems)
    return LoadedTrace(trace, slug, path or Path(file), sha256(data).hexdigest(), document.place)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TraceError([Problem(str(path), 1, 1, "FPL001", f"can't be read: {error.strerror}")]) from None


# --- which files -----------------------------------------------------------------------------------------------------


def shipped_root() -> Path:
    """The folder of the traces that come with forkproof."""
    return Path(str(files("forkproof.traces")))


def slug_of(path: Path, root: Path | None = None) -> str:
    """The path below the root without suffix, with `/` on every system.

    Without a root, it is the nearest folder above that is called `traces`, so that a trace has one slug however it is
    asked for; where there is none, the file's own folder.
    """
    whole = path.absolute()
    if root is None:
        root = next((p for p in whole.parents if p.name == "traces"), whole.parent)
    return whole.relative_to(root.absolute()).with_suffix("").as_posix()


def discover(paths: Iterable[Path | str] = ()) -> list[Path]:
    """The trace files that these paths mean, each once, in order; without any, all shipped traces.

    A path is a file, a folder (searched for *.yaml and *.yml, hidden ones left out), or, where no such path exists, the
    slug or the area of a shipped trace (`cut/edit-then-fork-shared`, `cut`). Raises `NoTraceError`.
    """
    wanted = [Path(p) for p in paths] or [shipped_root()]
    found: dict[Path, Path] = {}
    for path in wanted:
        for file in _files(path):
            found.setdefault(file.absolute(), file)
    return list(found.values())


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    shipped = shipped_root() / path
    folder = path if path.is_dir() else shipped
    if folder.is_dir():
        inside = sorted(_below(folder), key=lambda p: p.relative_to(folder).parts)
        if inside:
            return inside
        message = f"no trace in {path}"
        raise NoTraceError(message)
    for suffix in SUFFIXES:
        file = shipped.with_name(shipped.name + suffix)
        if file.is_file():
            return [file]
    message = f"no such trace file or folder, and no shipped trace or area of that name: {path}"
    raise NoTraceError(message)


def _below(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if (
            path.suffix in SUFFIXES
            and path.is_file()
            and not any(p.startswith(".") for p in path.relative_to(folder).parts)
        ):
            yield path
