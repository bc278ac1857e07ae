"""The harnesses that `forkproof run` knows by name. One table: name, summary, and where its adapter is made."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import cast

from forkproof.adapters.errors import UnknownHarness
from forkproof.adapters.protocol import Adapter, Description

__all__ = ["Entry", "find", "known"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One known harness; `module` has a factory `create(version: str | None) -> Adapter`."""

    name: str
    summary: str
    module: str
    version: str | None = None

    def create(self) -> Adapter:
        """A fresh adapter, for one trace. Raises `NotInstalled` when the program is not there."""
        return cast("Adapter", import_module(self.module).create(self.version))

    def describe(self) -> Description:
        """What the harness declares. Raises `NotInstalled`."""
        return self.create().describe()


_ENTRIES = (
    Entry("reference", "the in-memory reference: proves that the contract can be met", "forkproof.adapters.inprocess"),
    Entry("codex", "OpenAI Codex through `codex app-server`", "forkproof.adapters.codex"),
    Entry("goose", "Goose through the Agent Client Protocol", "forkproof.adapters.goose"),
)


def known() -> tuple[Entry, ...]:
    """Every known harness, the reference first."""
    return _ENTRIES


def find(name: str) -> Entry:
    """The harness of this name, `NAME` or `NAME@VERSION`. Raises `UnknownHarness` with the names that there are."""
    base, _, version = name.partition("@")
    for entry in _ENTRIES:
        if entry.name == base:
            return Entry(entry.name, entry.summary, entry.module, version or None)
    names = [e.name for e in _ENTRIES]
    close = get_close_matches(base, names, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise UnknownHarness(f"no harness is called {base!r}", f"{hint}known are {', '.join(names)}")
