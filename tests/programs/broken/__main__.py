"""A small harness that works, but for one fault at one phase. Standard library only.

`broken ROUTE FAULT PHASE NOTES`, run as a directory; what is behind NOTES is not looked at. ROUTE is a protocol: `acp`,
`codex` (an app-server), `pi` (its RPC) or `stdio` (forkproof's own). PHASE is one of start, open, prompt, fork,
compact, cancel, stop: the first request of that phase meets the FAULT, a method of `Fault`; with `second-` before it,
the first one after two sessions were opened. NOTES is a file that gets a line `begun PID` at the start,
`fault MONOTONIC-SECONDS` when the fault begins, and `child PID` for every process that is left.

It reaches its model over HTTP like a real one, keeps its sessions in memory, and forks, compacts and cancels in order.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from acp import Acp
from codex import Codex
from faults import Fault
from open_protocol import OpenProtocol
from pi import Pi


def main() -> None:
    """Serve standard input until it ends."""
    fault = Fault(sys.argv[2], sys.argv[3], Path(sys.argv[4]))
    fault.note(f"begun {os.getpid()}")
    route = {"acp": Acp, "codex": Codex, "pi": Pi, "stdio": OpenProtocol}[sys.argv[1]](fault)
    for line in sys.stdin:
        route.hear(json.loads(line))
    fault.at("stop")


main()
