"""Lint rules on the provider: names in expectations on it, and the capabilities that they take.

Rules FPL021, FPL022 and FPL041; `codes` says what each means.
"""

from __future__ import annotations

from collections.abc import Iterator

from forkproof.conformance.trace.fault import Fault, StepCheck, Story
from forkproof.conformance.trace.items import ItemPattern
from forkproof.conformance.trace.model import Expectation, TurnStep
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.suggestion import did_you_mean

__all__ = ["STORED", "needs_of_check", "needs_of_turn", "provider_names"]

STORED = ("effective_prompt", "continues", "remote_writers")
"""Kinds of expectation that look at what the provider keeps."""

_KEEPING = ("provider.remote", "provider.conversation")


def needs_of_turn(step: TurnStep) -> Iterator[tuple[str, Path]]:
    """The capabilities that a turn's attachments and opaque thinking take."""
    if step.attach:
        yield "attachments", ("attach",)
    for number, part in enumerate(step.model):
        form = getattr(part, "form", "plain")
        if form != "plain":
            yield f"thinking.{form}", ("model", number, form)


def needs_of_check(expectation: Expectation, declared: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """The capability that an expectation on the provider's store takes: the one that is declared, or both forms."""
    fields = expectation.provider.fields() if expectation.provider else {}
    kinds = [kind for kind in STORED if getattr(expectation, kind) is not None]
    kinds += ["provider"] if "remote_id" in fields else []
    for kind in kinds:
        for capability in [c for c in _KEEPING if c in declared] or _KEEPING[:1]:
            yield capability, (kind,)


def provider_names(story: Story) -> Iterator[Fault]:
    """Turns, sessions and items in expectations on the provider are there, and not only later."""
    for check in story.checks:
        wanted = check.expectation
        for number, name in enumerate(wanted.continues or ()):
            if name != "none":
                yield from _known(story, check, "turn", name, ("continues", number))
        for label, writers in (wanted.remote_writers or {}).items():
            for name in {label, *writers}:
                yield from _known(story, check, "session", name, ("remote_writers", label))
        for item in wanted.thinking or {}:
            yield from _thinking(story, check, item)


def _known(story: Story, check: StepCheck, kind: str, name: str, below: Path) -> Iterator[Fault]:
    known = story.names.known["session" if kind == "session" else "turn"]
    path = (*check.path, *below)
    if name not in known:
        yield Fault(path, "FPL021", f"no {kind} `{name}`{did_you_mean(name, known)}")
    elif known[name] > check.index:
        yield Fault(path, "FPL022", f"the {kind} `{name}` begins only in a later step")


def _thinking(story: Story, check: StepCheck, item: str) -> Iterator[Fault]:
    path = (*check.path, "thinking", item)
    since = story.names.items.get(ItemPattern(item).item)
    if since is None or ".think" not in item:
        yield Fault(path, "FPL021", f"no thinking `{item}`", key=True)
    elif since > check.index:
        yield Fault(path, "FPL022", f"`{item}` comes to be only in a later step", key=True)
    elif since == check.index:
        yield Fault(path, "FPL041", f"`{item}` is given in answer to this request, so it is never in it", key=True)
