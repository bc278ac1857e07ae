"""Seeded chaos in the answers of the model server: what a network and a proxy may do, and must not matter.

The bytes of a stream are cut anywhere, also within a character; characters stand as UTF-8 in place of escapes; lines
end in CR LF; comments keep the connection alive between events; events bear ids, some the same; the pieces come with
small delays. Where the script breaks a stream off, it is cut within the next event. None of that changes what an answer
says. Source: design section 4.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from forkproof.adapters.model.codec import Frame
from forkproof.adapters.protocol import Adapter, Drop, Retrying

__all__ = ["Chaos", "Pause", "Piece", "chaos_for"]

LONGEST_PAUSE = 0.002
"""Seconds between two pieces, at most."""

MOST_PAUSES = 6
"""Pauses of one answer that take time: a run must not get long by them."""

COMMENTS = (": keep-alive", ":", ": processing, ünï 😀 \u00a0", ":ping")
"""Lines that a reader of server-sent events skips; one has characters that can be cut."""

_ESCAPE = re.compile(rb"\\u([0-9a-f]{4})(?:\\u(d[c-f][0-9a-f]{2}))?|\\.")


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is sent for so many seconds; zero lets other work go first."""

    seconds: float


Piece: TypeAlias = Frame | Pause


@dataclass(frozen=True, slots=True)
class Chaos:
    """The chaos of one seed; what it does to an answer depends on the seed and on what the answer says (`key`) alone.

    `errors` are HTTP statuses that the harness's client is known to try again by itself: some requests are refused once
    with one of them. Without any no request is refused.
    """

    seed: int
    errors: tuple[int, ...] = ()

    def disturb(self, frames: Sequence[Frame], key: str = "") -> Iterator[Piece]:
        """A stream's frames in other pieces, to be sent in this order."""
        chance = self._chance(key)
        style = _Style(chance)
        run: list[bytes] = []
        for frame in [*frames, None]:
            if isinstance(frame, bytes):
                run.append(frame)
                continue
            if run and frame is not None and isinstance(frame, Drop):
                yield from _cut(b"".join(map(style.event, run)), chance)
                yield from _broken_off(frames, frame, style, chance)
            elif run:
                yield from _cut(b"".join(map(style.event, run)), chance)
            run = []
            if frame is not None:
                yield frame

    def split(self, body: bytes, key: str = "") -> Iterator[bytes | Pause]:
        """A whole answer in pieces; every byte as it was."""
        return _cut(body, self._chance(key))

    def error(self, number: int) -> int | None:
        """The status with which the request of this number is refused, None to serve it; never two in a row."""
        if not self.errors or self._unlucky(number - 1):
            return None
        return self._chance(f"status {number}").choice(self.errors) if self._unlucky(number) else None

    def _unlucky(self, number: int) -> bool:
        return self._chance(f"error {number}").random() < 1 / 4

    def _chance(self, key: str) -> Random:
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return Random(f"{self.seed}/{digest}")  # noqa: S311  # nothing secret is drawn


def chaos_for(seed: int | None, adapter: Adapter) -> Chaos | None:
    """The chaos that this harness can meet without a change of the story; None without a seed."""
    if seed is None:
        return None
    return Chaos(seed, adapter.retried if isinstance(adapter, Retrying) else ())


class _Style:
    """How one stream is written: its line ends, its characters, and what stands between its events."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._crlf = chance.random() < 1 / 2
        self._raw = chance.random() < 1 / 2
        self._ids = chance.random() < 1 / 3

    def event(self, frame: bytes) -> bytes:
        """One event in this style, perhaps with comments before it."""
        lines = frame.rstrip(b"\n").split(b"\n")
        if self._raw:
            lines = [_ESCAPE.sub(_character, line) for line in lines]
        if self._ids:
            lines = [b"id: %d" % self._chance.randrange(3), *lines]
        comments = [[self._chance.choice(COMMENTS).encode(), b""] for _ in range(self._chance.choice((0, 0, 0, 1, 2)))]
        written = [*(line for comment in comments for line in comment), *lines, b"", b""]
        return (b"\r\n" if self._crlf else b"\n").join(written)


def _broken_off(frames: Sequence[Frame], drop: Drop, style: _Style, chance: Random) -> Iterator[bytes]:
    """The beginning of the event that would have come next; never so much of it that it could be read."""
    behind = frames[next(index for index, frame in enumerate(frames) if frame is drop) + 1 :]
    following = next((frame for frame in behind if isinstance(frame, bytes)), b"")
    written = style.event(following).rstrip(b"\r\n") if following else b""
    if len(written) > 1:
        yield written[: chance.randrange(1, len(written))]


def _cut(data: bytes, chance: Random) -> Iterator[bytes | Pause]:
    """The data in pieces of a few bytes and of many, with pauses between them."""
    slow = MOST_PAUSES
    start = 0
    while start < len(data):
        size = chance.choice((1, 2, 3, 7, 64, 300, 1200))
        yield data[start : start + size]
        start += size
        if chance.random() < 1 / 2:
            takes = slow > 0 and chance.random() < 1 / 2
            slow -= takes
            yield Pause(chance.uniform(0, LONGEST_PAUSE) if takes else 0.0)


def _character(escape: re.Match[bytes]) -> bytes:
    """The characters of an escape as UTF-8, where they may stand in a line and in a JSON text as they are."""
    if escape[1] is None:
        return escape[0]
    text = json.loads(b'"' + escape[0] + b'"')
    return text.encode() if text.isprintable() and not text.isascii() else escape[0]
