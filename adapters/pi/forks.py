"""How pi forks: `fork` and `clone` over RPC, `at` an entry through the bridge, and `--fork` in another directory.

Source: docs/pi.md, "Forks".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forkproof.adapters.errors import StartFailed
from forkproof.adapters.pi import files
from forkproof.adapters.pi.fleet import Fleet
from forkproof.adapters.pi.path import Held
from forkproof.adapters.pi.peer import Rejected
from forkproof.adapters.pi.process import PiProcess
from forkproof.adapters.pi.record import applied_cut, fork_record
from forkproof.adapters.protocol import Answer, Cut, Fork, Forked, Refused, Unknown, Unsupported
from forkproof.adapters.tree import Clone

if TYPE_CHECKING:
    from forkproof.adapters.diskworld import DiskWorld

__all__ = ["clone", "fork"]

_MARKER = re.compile(r"\[fp[^\]]+\]$")


async def fork(fleet: Fleet, world: DiskWorld, asked: Fork) -> Answer:
    """Fork a session. Raises `Rejected` where pi states a failure, else an `AdapterError`."""
    async with fleet.placing:
        if not asked.exists:
            return await _unknown(fleet, asked)
        process = await fleet.at(asked.session)
        source = Held.of(await process.bridge("stand"))
        entry = source.cut(asked.cut, fleet.steered)
        if entry is None and asked.cut.kind != "head":
            return Unsupported(f"a cut {asked.cut.kind} something that session {asked.session} does not hold")
        if asked.workspace == "isolated":
            return await _elsewhere(fleet, world, asked, source, entry)
        return await _here(fleet, process, asked, source, entry)


async def clone(fleet: Fleet, asked: Clone) -> Answer:
    """Clone a session: what pi calls a fork at its position. Raises as `fork` does."""
    async with fleet.placing:
        process = await fleet.at(asked.session)
        source = Held.of(await process.bridge("stand"))
        return await _here(fleet, process, asked, source, source.leaf)


async def _here(fleet: Fleet, process: PiProcess, asked: Fork | Clone, source: Held, entry: str | None) -> Answer:
    """In the source's directory: the process that has the source open has the child open afterwards."""
    cut = asked.cut if isinstance(asked, Fork) else Cut("head")
    running = process.ledger.current
    busy = None if running is None else _MARKER.search(running.text)
    told: Any
    match cut.kind:
        case "before":
            told = await process.ask("fork", entryId=entry)
        case "head":
            told = await process.ask("clone")
        case _:
            told = await process.bridge("fork", entry=entry)
    told = told if isinstance(told, Mapping) else {}
    if told.get("cancelled"):
        return Refused("cancelled", "pi did not fork: an extension cancelled it")
    process.replaced()
    child = await process.look()
    if child.id == asked.session:
        return Unknown("pi forked, and still has the source open")
    editor = told.get("text")
    return await _made(fleet, process, asked, source, entry, editor=editor, busy=busy[0] if busy else None)


async def _elsewhere(fleet: Fleet, world: DiskWorld, asked: Fork, source: Held, entry: str | None) -> Answer:
    """In another directory, as a person would: copy the files, start `pi --fork` there, and go to the cut with /tree.

    `--fork` copies the whole session, so the cut is made by moving: what lies behind it stays in the child's file, as a
    branch that was left. An entry at the cut makes that place last: a position alone would not survive a restart, which
    is a matter of /tree and not of forks.
    """
    known = fleet.known[asked.session]
    world.copy(known.directory, asked.directory)
    try:
        process = await fleet.start(Path(asked.directory), "--fork", str(known.file))
    except StartFailed as error:
        return Refused("other", error.cause)
    if asked.cut.kind != "head":
        await process.bridge("navigate", entry=entry, summarize=False, keep=True)
    return await _made(fleet, process, asked, source, entry)


async def _made(
    fleet: Fleet,
    process: PiProcess,
    asked: Fork | Clone,
    source: Held,
    entry: str | None,
    *,
    editor: object = None,
    busy: str | None = None,
) -> Answer:
    fleet.keep(process, asked.directory)
    held = Held.of(await process.bridge("stand"))
    parent = held.header.get("parentSession")
    cut = asked.cut if isinstance(asked, Fork) else Cut("head")
    return Forked(
        fork_record(
            asked,
            process.open,
            held,
            source,
            source_id=_source(fleet, Path(parent)) if isinstance(parent, str) else None,
            cut=applied_cut(cut, source, held, entry, busy=busy),
            editor=editor if isinstance(editor, str) else None,
        )
    )


def _source(fleet: Fleet, file: Path) -> str | None:
    """The session in the file that a header names as the parent: one that is not stored yet is known by its place."""
    known = (session for session, each in fleet.known.items() if each.file == file)
    return files.header_id(file) or next(known, None)


async def _unknown(fleet: Fleet, asked: Fork) -> Answer:
    """Only `--fork` takes a session by its id, so only there can one be named that does not exist."""
    try:
        await fleet.start(Path(asked.directory), "--fork", files.new_id())
    except StartFailed as error:
        raise Rejected(error.cause) from error
    return Unknown("pi forked a session that does not exist")
