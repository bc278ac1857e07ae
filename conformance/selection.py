"""From what a person names on the command line (an area, a trace, a check, a path) to the files to play."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

__all__ = ["Selection", "SelectionError", "select", "shipped"]


class SelectionError(Exception):
    """A target names nothing; the message says what there is."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The files to play in order, the folder that slugs are relative to, and the checks to keep (none: all)."""

    root: Path
    files: tuple[Path, ...]
    checks: tuple[str, ...]


def shipped() -> Path:
    """The folder of the traces that come with forkproof."""
    return Path(str(files("forkproof.traces")))


def select(targets: Iterable[str]) -> Selection:
    """Resolve targets. Areas, traces and checks are of the shipped traces; a path may lead anywhere.

    Raises `SelectionError`, also when nothing at all is selected.
    """
    root = shipped()
    chosen: dict[Path, None] = {}
    checks: list[str] = []
    roots = set()
    for target in targets or ("",):
        slug, _, clause = target.partition("::")
        place, base = _place(slug, root)
        found = sorted(p for p in place.rglob("*.yaml") if p.is_file()) if place.is_dir() else [place]
        if not found:
            raise SelectionError(f"there is no trace in {place}")
        roots.add(base)
        chosen |= dict.fromkeys(found)
        if clause:
            checks.append(f"{found[0].relative_to(base).with_suffix('')}::{clause}")
    if len(roots) > 1:
        raise SelectionError("targets must lie below one folder: either shipped traces or your own")
    return Selection(roots.pop(), tuple(chosen), tuple(checks))


def _place(slug: str, root: Path) -> tuple[Path, Path]:
    """The file or folder that a target means, and the folder that its slugs are relative to."""
    for shipped_place in (root / slug, root / f"{slug}.yaml") if slug else (root,):
        if shipped_place.exists():
            return shipped_place, root
    path = Path(slug)
    if path.exists():
        path = path.resolve()
        if path.is_relative_to(root.resolve()):
            return root / path.relative_to(root.resolve()), root
        return path, path if path.is_dir() else path.parent
    known = sorted(str(p.relative_to(root).with_suffix("")) for p in root.rglob("*.yaml"))
    areas = sorted({k.partition("/")[0] for k in known})
    close = get_close_matches(slug, [*known, *areas], n=1)
    hint = f"did you mean {close[0]}?" if close else f"areas are {', '.join(areas)}; `forkproof list traces` prints all"
    raise SelectionError(f"no area, trace or path is called {slug!r}\n  hint: {hint}")
