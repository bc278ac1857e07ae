"""Ill-behaved programs for tests of the supervisor: `python nasty.py BEHAVIOUR [ARGUMENT]`. Standard library only."""

from __future__ import annotations

import os
import signal
import sys


def say(text: str) -> None:
    """Write to standard output, at once."""
    data = text.encode()
    while data:
        data = data[os.write(1, data) :]


def ignore_term() -> None:
    """Say `ready`, then live on whatever comes, deaf to TERM, HUP, INT and the end of the input."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    say("ready\n")
    while True:
        signal.pause()


def abandon(how: str) -> None:
    """Start a grandchild that outlives us with all our pipes open, print its pid, and exit.

    `tagged`: in its own session, with our environment. `bare`: in its own session, with none. `group`: in our session,
    with none.
    """
    read, write = os.pipe()
    os.set_inheritable(write, True)  # noqa: FBT003  # the standard library's signature
    if os.fork() == 0:
        if how != "group":
            os.setsid()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode())
            os.execve("/bin/sleep", ["sleep", "1000"], dict(os.environ) if how == "tagged" else {})  # noqa: S606
        os._exit(0)
    os.wait()
    say(os.read(read, 32).decode() + "\n")


def headless() -> None:
    """Leave a grandchild whose first thread has ended and whose second one lives on; print its pid."""
    import ctypes
    import threading
    import time
    from pathlib import Path

    read, write = os.pipe()

    def live_on() -> None:
        while Path("/proc/self/stat").read_bytes().rpartition(b") ")[2][:1] != b"Z":
            time.sleep(0.01)
        os.write(write, str(os.getpid()).encode())
        time.sleep(1000)

    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            threading.Thread(target=live_on).start()
            ctypes.CDLL(None).pthread_exit(None)
        os._exit(0)
    os.wait()
    say(os.read(read, 32).decode() + "\n")


def nursery() -> None:
    """Start a deaf child in a session of its own, print its pid, and live until the input ends; then leave it."""
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()
    say(f"{child}\n")
    sys.stdin.read()


def close_stdout() -> None:
    """Close standard output and live on."""
    os.close(1)
    while True:
        signal.pause()


def loud(megabytes: str) -> None:
    """Write so many megabytes to standard error, then a last word, then `ready`, and live until the input ends."""
    for _ in range(int(megabytes)):
        os.write(2, (b"x" * 1023 + b"\n") * 1024)
    os.write(2, b"\x1b[31mlast words\x1b[0m\n")
    say("ready\n")
    sys.stdin.read()


def half_line() -> None:
    """Stop in the middle of an answer."""
    sys.stdin.readline()
    os.write(2, b"out of memory\n")
    say('{"id": 1, "res')
    sys.exit(3)


def garbage() -> None:
    """Greet where only JSON may stand."""
    say("Welcome to harness 1.0!\n")
    sys.stdin.read()


def hang() -> None:
    """Say nothing, ever."""
    while True:
        signal.pause()


def crash(number: str) -> None:
    """End by a signal once asked something."""
    sys.stdin.readline()
    os.kill(os.getpid(), int(number))


def answer_and_exit() -> None:
    """Answer one request and exit at once."""
    sys.stdin.readline()
    say('{"id": 1, "result": "done"}\n')


def flood(megabytes: str) -> None:
    """Print so many megabytes of valid notifications, a megabyte each, then an answer."""
    sys.stdin.readline()
    line = '{"method": "noise", "params": "' + "x" * (1024 * 1024) + '"}\n'
    for _ in range(int(megabytes)):
        say(line)
    say('{"id": 1, "result": "done"}\n')


def endless_line(megabytes: str) -> None:
    """Print so many megabytes without a newline."""
    sys.stdin.readline()
    for _ in range(int(megabytes)):
        say("x" * (1024 * 1024))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
