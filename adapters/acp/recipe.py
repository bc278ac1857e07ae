"""A recipe: how one agent that speaks the Agent Client Protocol is started, pointed at a model, and what it can do.

A recipe is a TOML file of about ten lines. Texts in it may hold placeholders, `{name}`, which are filled in when a
trace starts (`PLACEHOLDERS`). Source: design section 5, "three ways in", (c).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator

from forkproof.adapters.errors import BadRecipe
from forkproof.adapters.trial import LONGEST

__all__ = ["PLACEHOLDERS", "BadRecipe", "Overlay", "Recipe", "ShellTool", "fill", "load", "parse"]

PLACEHOLDERS: Mapping[str, str] = {
    "program": "the installed agent's program",
    "endpoint": "where the model listens, e.g. http://127.0.0.1:41234, without a path",
    "key": "the random key that the model asks for",
    "home": "the trial's private HOME",
}
"""What may stand in braces in a command, a variable or a file, and what it becomes."""

_ONE_WAY = "it comes in one way"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_NAME = r"^[a-z][a-z0-9-]*$"
_DOTTED = r"^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*$"

Name = Annotated[str, StringConstraints(pattern=_NAME, max_length=40)]
Dotted = Annotated[str, StringConstraints(pattern=_DOTTED)]
Text = Annotated[str, StringConstraints(min_length=1)]
Refusal = Literal["busy", "unknown-cut", "unknown-session"]
Answer = Literal["allow_once", "allow_for_session", "allow_always", "reject"]


class _Part(BaseModel):
    """Every part of a recipe is frozen and refuses keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _below_home(files: Mapping[str, str]) -> Mapping[str, str]:
    for path in files:
        if path.startswith("/") or ".." in path.split("/"):
            raise ValueError(f"{path!r} leaves HOME: a file's path is relative to it")
    return files


def _known(text: str) -> str:
    for name in _PLACEHOLDER.findall(text):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{p}}}" for p in PLACEHOLDERS)
            raise ValueError(f"there is no placeholder {{{name}}}; known are {known}")
    return text


Deadline = Annotated[float, Field(gt=0, le=LONGEST)]
Filled = Annotated[str, AfterValidator(_known)]
"""A text with placeholders, all of them known."""

Environment: TypeAlias = Mapping[str, Filled]
Files: TypeAlias = Annotated[Mapping[Text, Filled], AfterValidator(_below_home)]


class ShellTool(_Part):
    """The tool by which the agent's model runs a command: its name, and the argument that takes the command.

    more: arguments that the tool wants besides, the same in each call.
    """

    name: Text
    arg: Text = "command"
    more: Mapping[str, Any] = {}


class Tools(_Part):
    """The agent's own tools, as far as the suite needs them."""

    shell: ShellTool


class Traffic(_Part):
    """How to tell the agent's requests apart: words that stand in each request of a kind and in no other.

    summary: the request for a compaction's summary. side: titles, suggestions and the like. Needed where such a request
    repeats what a person said, marker included, so that it looks like a turn's. answer: what the model says to side
    traffic where the agent can't read plain words, e.g. a title as JSON.
    """

    summary: tuple[Text, ...] = ()
    side: tuple[Text, ...] = ()
    answer: str = ""


class Overlay(_Part):
    """What is other where the agent is run in one of its variants, or over another wire format.

    says: what it is, in a few words. env and files: put over the recipe's own, name by name. capabilities and
    unobservable: added to the recipe's; without: capabilities that it does not have here. policies and values: put
    over the recipe's, an empty policy takes that one away. wire: the codec that a variant brings with it, and no other.
    extension: another one than the recipe's.
    """

    says: str = ""
    env: Environment = {}
    files: Files = {}
    wire: Name | None = None
    extension: Name | None = None
    capabilities: frozenset[Dotted] = frozenset()
    without: frozenset[Dotted] = frozenset()
    policies: Mapping[str, str] = {}
    values: Mapping[str, Mapping[str, str]] = {}
    unobservable: frozenset[Dotted] = frozenset()


class Recipe(_Part):
    """One agent over ACP.

    command: the program and its arguments. env: variables beside the suite's own (adapters/environment.py). files: path
    below HOME -> content. wire: the codec that the agent speaks to its model. extension: what it offers beyond ACP,
    cuts above all (`extension.known()`); with `none` only the whole history can be forked. compact: the prompt that
    compacts a session, if one does. compacted: a regular expression for the agent's words once that is done, where the
    prompt's answer only says that it has begun. settings: the agent's configuration option, or `mode` or `model`, ->
    its name in a trace and in a fork record. values: that name -> a trace's value -> the agent's. answers: a decision
    of the person -> the option of a permission request that means it, where its kind does not tell. client: what the
    client's side offers beside questions. unknown_session: an id of the agent's own form that it never gave. refusals:
    reason -> a regular expression, looked for in the agent's error. reusable: whether one process may serve several
    traces (`--isolation run`). retried: HTTP statuses of the model at which the agent asks again at once.
    name_sessions: give each session a title, so that the agent does not ask its model for one. deadline: seconds for
    the start and for each operation, where the person names none. capabilities, policies, unobservable: see
    `protocol.Description`. variants, wires: name -> what is other there (`--variant`, `--wire`).
    """

    recipe: Literal[1]
    name: Name
    wire: Name
    command: Annotated[tuple[Annotated[Text, AfterValidator(_known)], ...], Field(min_length=1)]
    tool: Tools
    env: Environment = {}
    files: Files = {}
    extension: Name = "none"
    compact: str = ""
    compacted: Text | None = None
    traffic: Traffic = Traffic()
    capabilities: frozenset[Dotted] = frozenset()
    policies: Mapping[str, str] = {}
    unobservable: frozenset[Dotted] = frozenset()
    settings: Mapping[str, str] = {}
    values: Mapping[str, Mapping[str, str]] = {}
    answers: Mapping[Answer, Text] = {}
    client: frozenset[Literal["files"]] = frozenset()
    unknown_session: str = ""
    refusals: Mapping[Refusal, Text] = {}
    reusable: bool = False
    retried: tuple[int, ...] = ()
    name_sessions: bool = False
    deadline: Deadline | None = None
    variants: Mapping[Name, Overlay] = {}
    wires: Mapping[Name, Overlay] = {}

    def chosen(self, variant: str | None = None, wire: str | None = None) -> Recipe:
        """The recipe as it is for this variant and wire format, None for its own. Raises `BadRecipe`."""
        recipe = self
        if variant is not None:
            other = _named(self.variants, variant, f"recipe {self.name} has no variant")
            if other.wire is not None and wire not in (None, other.wire):
                raise BadRecipe(
                    f"variant {variant} of recipe {self.name} is for the wire format {other.wire} only", _ONE_WAY
                )
            recipe = _under(recipe, other)
        if wire is not None and wire != recipe.wire:
            told = _named(self.wires, wire, f"recipe {self.name} is not for the wire format")
            recipe = _under(recipe, told.model_copy(update={"wire": wire}))
        return recipe

    @field_validator("wire")
    @classmethod
    def _is_spoken(cls, wire: str) -> str:
        from forkproof.adapters.model.codec import codecs

        if wire not in codecs():
            raise ValueError(f"{wire!r} is no wire format that the model speaks; known are {', '.join(codecs())}")
        return wire

    @field_validator("compacted")
    @classmethod
    def _is_an_expression(cls, pattern: str | None) -> str | None:
        cls._compiles({} if pattern is None else {"busy": pattern})
        return pattern

    @field_validator("refusals")
    @classmethod
    def _compiles(cls, refusals: Mapping[Refusal, str]) -> Mapping[Refusal, str]:
        for pattern in refusals.values():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
        return refusals


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with every placeholder replaced; braces around anything else (JSON, for one) stay as they are."""
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)


def _under(recipe: Recipe, overlay: Overlay) -> Recipe:
    """The recipe with an overlay's values on top."""
    return recipe.model_copy(
        update={
            "wire": overlay.wire or recipe.wire,
            "extension": overlay.extension or recipe.extension,
            "env": {**recipe.env, **overlay.env},
            "files": {**recipe.files, **overlay.files},
            "capabilities": (recipe.capabilities | overlay.capabilities) - overlay.without,
            "policies": {n: chosen for n, chosen in {**recipe.policies, **overlay.policies}.items() if chosen},
            "values": {**recipe.values, **overlay.values},
            "unobservable": recipe.unobservable | overlay.unobservable,
        }
    )


def _named(overlays: Mapping[str, Overlay], name: str, missing: str) -> Overlay:
    if name not in overlays:
        raise BadRecipe(
            f"{missing} {name!r}", f"known are {', '.join(overlays)}" if overlays else "it comes in one way"
        )
    return overlays[name]


def load(path: Path) -> Recipe:
    """Read a recipe from a file. Raises `BadRecipe` with everything that is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecipe(f"can't read {path}: {error}", "check the path") from error
    return parse(text, path.name)


def parse(text: str, where: str) -> Recipe:
    """The recipe in a TOML text; `where` names it in errors. Raises `BadRecipe` with everything that is wrong."""
    try:
        return Recipe.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadRecipe(f"{where} is not TOML: {error}", "docs/acp.md shows a recipe") from error
    except ValidationError as error:
        problems = "; ".join(f"{_place(e['loc'])}: {e['msg'].removeprefix('Value error, ')}" for e in error.errors())
        raise BadRecipe(f"{where}: {problems}", "docs/acp.md explains every key of a recipe") from error


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location)) or "the recipe"
