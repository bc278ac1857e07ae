"""A well-behaved JSON-RPC program for tests of the peer: it echoes, asks back and notifies. Standard library only."""

from __future__ import annotations

import json
import sys
from typing import Any


def send(**message: Any) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer until the input ends; `ask` is answered with what the other side answers to `question`."""
    asking = None
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "echo":
                send(id=message["id"], result=message["params"])
            case "ask":
                asking = message["id"]
                send(id="q1", method="question", params=message["params"])
            case "notify":
                send(method="told", params=message["params"])
                send(id=message["id"], result=None)
            case "refuse":
                send(id=message["id"], error={"code": -32000, "message": "busy", "data": {"by": "test"}})
            case None:
                send(id=asking, result={k: v for k, v in message.items() if k != "id"})


if __name__ == "__main__":
    main()
