"""What a program says of itself, asked in a short process of its own and kept until the program changes."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from pathlib import Path
from typing import Any

from forkproof.adapters.errors import Garbage
from forkproof.adapters.protocol import Deadlines
from forkproof.adapters.stdio import messages as m
from forkproof.adapters.stdio.program import Program
from forkproof.adapters.stdio.talk import PAGE, Talk
from forkproof.adapters.trial import LONGEST

__all__ = ["check_described", "described"]

_KNOWN: dict[tuple[str, ...], m.Described] = {}


def described(program: Program, deadlines: Deadlines) -> m.Described:
    """What the program declares. Raises what `Talk.open` raises, and `Garbage` for a description that can't be."""
    state = program.state()
    if state not in _KNOWN:
        with tempfile.TemporaryDirectory(prefix="forkproof-", ignore_cleanup_errors=True) as private:
            _KNOWN[state] = _in_a_thread(_ask(program, Path(private).resolve() / "home", deadlines))
    return _KNOWN[state]


async def _ask(program: Program, home: Path, deadlines: Deadlines) -> m.Described:
    talk = await Talk.open(program, home, deadlines)
    try:
        found: m.Described = await talk.ask("describe", m.Nothing(), deadlines.start)
        check_described(found)
        return found
    finally:
        await talk.stop()


def check_described(found: m.Described) -> None:
    """See that a description makes sense in itself. Raises `Garbage`."""
    from forkproof.adapters.model.codec import codecs

    known = sorted(codecs())
    if found.model == "http" and found.wire not in known:
        raise Garbage(
            f"the answer to describe: wire: one of {', '.join(known)} is expected, not {found.wire!r}",
            'a harness that does not reach its model over HTTP says `model: "protocol"`',
        )
    if not found.harness or not found.version:
        raise Garbage("the answer to describe: harness and version must not be empty", PAGE)
    if found.deadline is not None and not 0 < found.deadline <= LONGEST:
        raise Garbage(f"the answer to describe: deadline: above 0 and up to {LONGEST:g} seconds", PAGE)


def _in_a_thread(work: Any) -> Any:
    """The result of a coroutine, also where a loop runs already: `describe` is asked in the middle of trials."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001  # handed over to whoever waits
            outcome.append(error)

    thread = threading.Thread(target=run, name="forkproof-describe")
    thread.start()
    with contextlib.suppress(KeyboardInterrupt):
        thread.join()
    if not outcome:
        thread.join()
        raise KeyboardInterrupt
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
