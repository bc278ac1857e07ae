"""Programs that speak the adapter protocol, well or badly: each is written for one test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from forkproof.adapters.protocol import Deadlines, ModelReply, ModelRequest, Say, Trial, World
from forkproof.adapters.stdio.adapter import StdioAdapter
from forkproof.adapters.stdio.program import program

_BASE: Mapping[str, Any] = {
    "initialize": {"protocolVersion": 1},
    "describe": {"harness": "fake", "version": "1", "model": "protocol"},
    "start": {},
    "stop": {},
}

_PROGRAM = """
import json, os, sys, time
ANSWERS = json.loads({answers!r})
{extra}
def send(message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()
for line in sys.stdin:
    asked = json.loads(line)
    number, method = asked.get("id"), asked.get("method")
    if method is None or number is None:
        other(asked)
        continue
    said = ANSWERS.get(method)
    if said == "hang":
        continue
    if said == "die":
        sys.exit(3)
    if said == "own":
        own(number, asked)
    elif method not in ANSWERS:
        send({{"jsonrpc": "2.0", "id": number, "error": {{"code": -32601, "message": "Method not found"}}}})
    elif isinstance(said, str):
        sys.stdout.write(said + "\\n")
        sys.stdout.flush()
    elif "error" in said:
        send({{"jsonrpc": "2.0", "id": number, "error": said["error"]}})
    else:
        send({{"jsonrpc": "2.0", "id": number, "result": said}})
"""

OTHERS_DROPPED = "other = lambda asked: None\n"


def fake(folder: Path, answers: Mapping[str, Any] | None = None, extra: str = OTHERS_DROPPED) -> Path:
    """A program that gives each method its answer.

    A string is a whole line in place of an answer, but for `hang` (none), `die` (exit 3) and `own` (what `extra`
    defines as `own(number, asked)`); a method without an answer is not known. `other(asked)` takes what is no request.
    """
    place = folder / "fake.py"
    text = _PROGRAM.format(answers=json.dumps({**_BASE, **(answers or {})}), extra=extra)
    place.write_text(text, encoding="utf-8")
    return place


class Silent:
    """A model that always says the same."""

    async def respond(self, request: ModelRequest) -> ModelReply:
        """One answer for all."""
        del request
        return ModelReply((Say("Fine."),))

    async def released(self, stall: str) -> None:
        """At once."""
        del stall


def _made(root: Path) -> None:
    root.mkdir(exist_ok=True)


@asynccontextmanager
async def running(place: Path, root: Path, deadlines: Deadlines | None = None, **trial: Any) -> AsyncIterator[Any]:
    """A started adapter for this program, its process and its world; stopped at the end, with nothing left."""
    adapter = StdioAdapter(program(place))
    _made(root)
    deadlines = deadlines or Deadlines(start=60, operation=60, stop=5)
    world: World = await adapter.start(Trial(root, Silent(), deadlines=deadlines, **trial))
    assert adapter.talk is not None
    process = adapter.talk.process
    try:
        yield adapter, world
    finally:
        await adapter.stop()
        await adapter.stop()
        assert process.leftovers() == ()
    await asyncio.sleep(0)
