"""The house stands as it was drawn: layers, packaged folders, size of modules (design section 1)."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = {
    "reference": set(),
    "reports": set(),
    "adapters": {"reference"},
    "conformance": {"reference", "adapters", "reports", "traces"},
    "traces": set(),
}
LONGEST_MODULE = 400


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Every forkproof folder that a module imports from, at any depth of its code."""
    package = path.relative_to(ROOT).parts[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = [f"forkproof.{package}" if node.level else node.module or ""]
            names += [f"{node.module}.{a.name}" for a in node.names] if node.module == "forkproof" else []
        elif isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        else:
            continue
        yield from (n.split(".")[1] for n in names if n.startswith("forkproof."))


@pytest.mark.parametrize("folder", sorted(LAYERS))
def test_imports_run_one_way(folder: str) -> None:
    """A folder imports only itself and the layers below it."""
    assert modules(folder), f"{folder} has no module, so nothing was checked"
    allowed = LAYERS[folder] | {folder}
    wrong = [
        f"{p.relative_to(ROOT)} imports {name}" for p in modules(folder) for name in imported(p) if name not in allowed
    ]
    assert wrong == []


def test_the_engine_never_imports_a_report_writer() -> None:
    """Judging and playing need the events at most; who writes them is chosen by the recorder."""
    engine = [ROOT / "conformance" / f"{name}.py" for name in ("player", "trial", "stage", "provenance", "verdict")]
    engine += modules("conformance/judge")
    assert not [str(p) for p in engine if "reports" in set(imported(p))]


def test_every_package_is_shipped() -> None:
    """Each folder with modules is listed in pyproject.toml, so that the wheel holds it."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(data["tool"]["setuptools"]["packages"])
    found = {
        "forkproof." + ".".join(p.parent.relative_to(ROOT).parts)
        for folder in LAYERS
        for p in (ROOT / folder).rglob("__init__.py")
    }
    assert found == listed


@pytest.mark.parametrize("folder", sorted(LAYERS))
def test_modules_stay_readable(folder: str) -> None:
    """One module, one noun: none grows past the hard limit."""
    lengths = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in modules(folder)}
    assert not {name: n for name, n in lengths.items() if n > LONGEST_MODULE}
