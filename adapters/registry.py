"""The harnesses that `forkproof run` knows by name, and the user's own, which it knows by a path.

One table: name, summary, where the adapter is made, and in which variants and wire formats the harness comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import cast

from forkproof.adapters.choice import Choice
from forkproof.adapters.errors import UnknownHarness
from forkproof.adapters.protocol import Adapter, Description

__all__ = ["Entry", "find", "known"]

_RECIPE = "acp:"


@dataclass(frozen=True, slots=True)
class Entry:
    """One known harness, as chosen; `module` has a factory `create(choice: Choice) -> Adapter`.

    `variants` maps the names that `--variant` takes to what they are, `wires` are the codecs that `--wire` takes, the
    default first; none of a kind means that there is no choice.
    """

    summary: str
    module: str
    choice: Choice
    variants: Mapping[str, str] = field(default_factory=dict)
    wires: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What `forkproof run` takes, without a version."""
        return self.choice.name

    def create(self) -> Adapter:
        """A fresh adapter. Raises `NotInstalled` when the program is not there."""
        return cast("Adapter", import_module(self.module).create(self.choice))

    def describe(self) -> Description:
        """What the harness declares. Raises `NotInstalled`."""
        return self.create().describe()

    def declared(self) -> Description:
        """What the harness declares, also where its program is not there: then of the version that is chosen."""
        return replace(self, choice=replace(self.choice, to_run=False)).describe()


_ENTRIES = (
    Entry(
        "the in-memory reference: proves that the contract can be met",
        "forkproof.adapters.inprocess",
        Choice("reference"),
    ),
    Entry(
        "OpenAI Codex through `codex app-server`",
        "forkproof.adapters.codex",
        Choice("codex"),
        variants={"legacy": "threads in Codex's older storage, one file for each"},
        wires=("responses",),
    ),
    Entry(
        "Goose through the Agent Client Protocol",
        "forkproof.adapters.goose",
        Choice("goose"),
        {
            "state-machine": "its second engine (GOOSE_STATE_MACHINE)",
            "acp-provider": "another agent as its model, over ACP (amp-acp)",
        },
        ("chat", "responses", "messages"),
    ),
    Entry(
        "pi through `pi --mode rpc`",
        "forkproof.adapters.pi",
        Choice("pi"),
        {"threads": "Anthropic's message threads, over the wire format messages"},
        ("chat", "responses", "messages"),
    ),
    Entry("OpenCode over ACP", "forkproof.adapters.acp", Choice("acp:opencode"), wires=("chat",)),
    Entry("Kimi Code over ACP", "forkproof.adapters.acp", Choice("acp:kimi-code"), wires=("chat",)),
    Entry("OpenAI Codex over ACP (codex-acp)", "forkproof.adapters.acp", Choice("acp:codex-acp"), wires=("responses",)),
    Entry(
        "Claude Code over ACP (claude-agent-acp)",
        "forkproof.adapters.acp",
        Choice("acp:claude-agent-acp"),
        wires=("messages",),
    ),
    Entry("Mistral Vibe over ACP", "forkproof.adapters.acp", Choice("acp:mistral-vibe"), wires=("chat",)),
)


def known() -> tuple[Entry, ...]:
    """Every known harness, the reference first."""
    return _ENTRIES


def find(asked: str, variant: str | None = None, wire: str | None = None) -> Entry:
    """The harness that a person asked for.

    `asked` is `NAME` or `NAME@VERSION` for a known one, `acp:PATH` for a user's recipe, and `PATH` for a program that
    speaks the adapter protocol: whatever holds a `/`. Raises `UnknownHarness` with what there is.
    """
    listed = asked.partition("@")[0] in {entry.name for entry in _ENTRIES}
    entry = _own(asked) if not listed and ("/" in asked or asked.endswith(".toml")) else _known(asked)
    if variant is not None and variant not in entry.variants:
        raise _unknown(f"{entry.name} has no variant {variant!r}", variant, entry.variants)
    if wire is not None and wire not in entry.wires:
        raise _unknown(f"{entry.name} is not driven over the wire format {wire!r}", wire, entry.wires)
    return replace(entry, choice=replace(entry.choice, variant=variant, wire=wire))


def _known(asked: str) -> Entry:
    base, _, version = asked.partition("@")
    for entry in _ENTRIES:
        if entry.name == base:
            return replace(entry, choice=replace(entry.choice, version=version or None))
    raise _unknown(f"no harness is called {base!r}", base, [entry.name for entry in _ENTRIES])


def _own(asked: str) -> Entry:
    """A recipe or an adapter of the user's, by its path."""
    place = Path(asked.removeprefix(_RECIPE)).expanduser()
    choice = Choice(asked, place=place.absolute())
    if asked.startswith(_RECIPE):
        return _recipe(Entry("a recipe of yours", "forkproof.adapters.acp", choice), place)
    if place.suffix == ".toml":
        raise UnknownHarness(f"{asked} looks like a recipe for an agent that speaks ACP", f"write acp:{asked}")
    return Entry("an adapter of yours", "forkproof.adapters.stdio", choice)


def _recipe(entry: Entry, place: Path) -> Entry:
    """With the variants and wire formats that the recipe has; a file that is not there is told of by `create`."""
    if not place.is_file():
        return entry
    from forkproof.adapters.acp.recipe import load

    recipe = load(place.absolute())
    variants = {name: other.says for name, other in recipe.variants.items()}
    return replace(entry, variants=variants, wires=tuple(dict.fromkeys((recipe.wire, *recipe.wires))))


def _unknown(cause: str, word: str, there: Mapping[str, str] | list[str] | tuple[str, ...]) -> UnknownHarness:
    close = get_close_matches(word, there, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return UnknownHarness(cause, f"{hint}known are {', '.join(there)}" if there else "it comes in one way only")
