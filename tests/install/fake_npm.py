"""A stand-in for npm: notes how it was called, then does what `orders.json` beside it says.

Orders: `view` and `install` may each have `status`, `err` and `out`; `install` may also have `print` (what the program
that it lays down prints), `mode` (of that program), `program` (its path below the package), `pause` (a FIFO to write
one's process id to before waiting for ever), `gate` (a FIFO whose writer lets the install go on) and `size` (bytes of
what it downloads). A full disk is told as npm tells it.
"""

import errno
import json
import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    arguments = sys.argv[1:]
    with (HERE / "calls.jsonl").open("a") as log:
        log.write(json.dumps({"argv": arguments, "env": dict(os.environ), "cwd": str(Path.cwd())}) + "\n")
    if arguments[0] == "--version":
        sys.stdout.write("11.0.0\n")
        return 0
    orders = json.loads((HERE / "orders.json").read_text()).get(arguments[0], {})
    if arguments[0] == "view":
        sys.stdout.write(orders.get("out", json.dumps({"integrity": "sha512-AAAA", "unpackedSize": 2000})))
    if arguments[0] == "install":
        try:
            lay(arguments, orders)
        except OSError as error:
            sys.stderr.write(f"npm error code {errno.errorcode[error.errno]}\nnpm error {error.strerror}, write\n")
            return 228
    sys.stderr.write(orders.get("err", ""))
    return int(orders.get("status", 0))


def lay(arguments: list[str], orders: dict[str, str]) -> None:
    spec = arguments[1]
    prefix = Path(arguments[arguments.index("--prefix") + 1])
    cache = Path(arguments[arguments.index("--cache") + 1])
    cache.mkdir()
    (cache / "tarball").write_bytes(b"x" * int(orders.get("size", 1000)))
    folder = prefix / "node_modules" / ("@" + spec[1:].split("@")[0])
    program = folder / orders["program"]
    program.parent.mkdir(parents=True)
    if "pause" in orders:
        Path(orders["pause"]).write_text(str(os.getpid()))
        signal.pause()
    if "gate" in orders:
        Path(orders["gate"]).read_text()
    program.write_text(f"#!/bin/sh\necho '{orders['print']}'\n")
    program.chmod(int(orders.get("mode", "755"), 8))


if __name__ == "__main__":
    sys.exit(main())
