"""The model's script: what it answers to each turn, in words of no harness."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from forkproof.reference.prompt import Prompt, Text
from tests.deep.program import Round

__all__ = ["Answer", "Said", "Script", "Used", "decision", "is_a_persons", "written_out"]

_PERSON: Final = re.compile(r"u\d+(\.\d+)?")


@dataclass(frozen=True)
class Said:
    """Words."""

    text: str


@dataclass(frozen=True)
class Used:
    """A call with everything that names it."""

    id: str
    tool: str
    arguments: Mapping[str, Any] | str
    start: str
    end: str


Answer: TypeAlias = Sequence[Said | Used] | Literal["fails", "stalls"]


def decision(call: str) -> Literal["allow_once", "allow_for_session", "allow_always", "reject"]:
    """What the person answers when a call asks; each call of this id gets the same answer."""
    answers: Final = ("reject", "allow_once", "allow_for_session", "allow_always", "allow_once")
    return answers[sum(map(ord, call)) % 5]


def is_a_persons(text: str) -> bool:
    """Whether a program's person said this."""
    return _PERSON.fullmatch(text) is not None


def written_out(turn: str, rounds: Sequence[Round]) -> list[Answer]:
    """The answers of a turn, each text and call with a name of its own; the last answer makes no call."""
    answers: list[Answer] = []
    for number, round_ in enumerate((*rounds, Round())):
        if round_.trouble:
            return [*answers, round_.trouble]
        said: list[Said | Used] = [Said(f"s{turn}.{number}")] if round_.says else []
        for place, call in enumerate(round_.calls):
            name = f"c{turn}.{number}.{place}"
            said.append(Used(call.id or name, call.tool, call.arguments, f"[x.{name}.start]", f"[x.{name}.end]"))
        answers.append(said)
        if not round_.calls:
            break
    return answers


@dataclass
class Script:
    """One harness's model. It finds the turn by the newest message of the person, and gives its answers in order."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    summary: Answer = ()
    prompts: list[Prompt] = field(default_factory=list)
    _given: dict[str, int] = field(default_factory=dict)

    def answer(self, prompt: Prompt) -> Answer:
        """The next answer; words alone where a harness asks more often than it should."""
        self.prompts.append(prompt)
        if prompt.settings.get("purpose") == "summary":
            return self.summary
        texts = [part.content for message in prompt.messages for part in message.parts if isinstance(part, Text)]
        newest = next((text for text in reversed(texts) if is_a_persons(text)), "")
        number = self._given.get(newest, 0)
        self._given[newest] = number + 1
        answers = self.answers.get(newest, [])
        return answers[number] if number < len(answers) else [Said("s?")]

    def taken(self) -> list[Prompt]:
        """The prompts that came since this was last asked."""
        taken = self.prompts
        self.prompts = []
        return taken
