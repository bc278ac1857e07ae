"""The faults, and the ways out of the program that they need."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

MEGABYTE = 1024 * 1024


def write(data: bytes) -> None:
    """All of it to standard output, at once; a closed one is no error here."""
    while data:
        data = data[os.write(1, data) :]


def sleep_for_ever() -> NoReturn:
    """Until a signal ends it."""
    while True:
        signal.pause()


class Fault:
    """One fault, which happens once. A method gives True if the request is still to be answered in order.

    The route sets two things: `ask` begins a request to the model and does not read the answer, and `dress` gives a
    message the form of its protocol.
    """

    def __init__(self, name: str, phase: str, notes: Path) -> None:
        self.phase = phase
        self.notes = notes
        self.happens = getattr(self, name.replace("-", "_"))
        self.over = False
        self.doubled: Any = None
        self.ask: Callable[[], object] = lambda: None
        self.dress: Callable[[dict[str, Any]], dict[str, Any]] = dict

    def at(self, phase: str, number: Any = None) -> bool:
        """Let the fault happen if this is its phase."""
        if phase != self.phase or self.over:
            return True
        self.over = True
        self.note(f"fault {time.monotonic()}")
        return bool(self.happens(number))

    def note(self, line: str) -> None:
        with self.notes.open("a") as notes:
            notes.write(line + "\n")

    def line(self, **message: Any) -> bytes:
        return json.dumps(self.dress(message)).encode() + b"\n"

    def none(self, _number: Any) -> bool:
        return True

    def tell(self, _number: Any) -> bool:
        """Note the environment."""
        self.note(f"environment {json.dumps(dict(os.environ))}")
        return True

    def burn(self, _number: Any) -> bool:
        """Three seconds of CPU, then the answer."""
        until = time.process_time() + 3.0
        while time.process_time() < until:
            pass
        return True

    def hang(self, _number: Any) -> bool:
        sleep_for_ever()

    def deaf(self, _number: Any) -> bool:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        sleep_for_ever()

    def exit_0(self, _number: Any) -> bool:
        os._exit(0)

    def exit_7(self, _number: Any) -> bool:
        os.write(2, b"fatal: my database is gone\n")
        os._exit(7)

    def killed(self, _number: Any) -> bool:
        os.kill(os.getpid(), signal.SIGKILL)
        sleep_for_ever()

    def garbage(self, _number: Any) -> bool:
        write(b"Segmentation fault, core dumped\n")
        return True

    def half_line_exit(self, number: Any) -> bool:
        write(f'{{"id": {json.dumps(number)}, "res'.encode())
        os._exit(3)

    def half_line_hang(self, number: Any) -> bool:
        write(f'{{"id": {json.dumps(number)}, "res'.encode())
        sleep_for_ever()

    def huge_line(self, _number: Any) -> bool:
        write(b"x" * (17 * MEGABYTE))
        sleep_for_ever()

    def flood(self, _number: Any) -> bool:
        line = self.line(method="noise", params={"text": "x" * 1000})
        while True:
            write(line)

    def loud(self, _number: Any) -> bool:
        for _ in range(8):
            os.write(2, (b"x" * 1023 + b"\n") * 1024)
        os.write(2, b"the last words\n")
        return True

    def mute(self, _number: Any) -> bool:
        os.close(1)
        sleep_for_ever()

    def wrong_id(self, _number: Any) -> bool:
        write(self.line(id=4711, result={}))
        return False

    def wrong_id_hang(self, _number: Any) -> bool:
        """An answer to nothing, then what belongs to the protocol, then silence."""
        write(self.line(id=4711, result={}) + self.line(method="noise", params={}))
        sleep_for_ever()

    def twice(self, number: Any) -> bool:
        self.doubled = number
        return True

    def stall(self, _number: Any) -> bool:
        """Ask the model for a stream and never read it."""
        self.note(f"stalled {self.ask()}")
        sleep_for_ever()

    def family_hang(self, _number: Any) -> bool:
        self.family()
        sleep_for_ever()

    def family_exit(self, _number: Any) -> bool:
        self.family()
        os._exit(0)

    def family(self) -> None:
        """A child, one in a session of its own that is deaf to TERM, and one that cut every tie but its pipes."""
        deaf = "trap '' TERM HUP INT; while :; do /bin/sleep 1000; done"
        for words, apart in ((["/bin/sleep", "1000"], False), (["/bin/sh", "-c", deaf], True)):
            child = subprocess.Popen(words, start_new_session=apart)
            self.note(f"child {child.pid}")
        read, out = os.pipe()
        os.set_inheritable(out, True)  # noqa: FBT003  # the standard library's signature
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(out, str(os.getpid()).encode())
                os.execve("/bin/sleep", ["sleep", "1000"], {})  # noqa: S606  # an environment without the tag
            os._exit(0)
        self.note(f"child {os.read(read, 32).decode()}")
