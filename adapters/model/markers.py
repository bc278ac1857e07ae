"""Markers: the names that the suite plants in every text and tool output, so that it finds them again in any prompt.

A marker is a run's nonce and an item's name in square brackets, `[fp7f3a1c.plan.user]`: plain ASCII that survives
wrapping, merging and JSON. The nonce keeps two runs, and a run and its control, apart, and keeps adapters honest: what
never passed through the harness can't be echoed. Source: design section 4.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass

__all__ = ["Markers", "may_hold", "nonce_for"]

_MARKER = re.compile(r"\[fp([0-9a-f]{6})((?:\.[a-z0-9-]+)+)\]")
_CALL_ID = re.compile(r"^call_fp([0-9a-f]{6})_([a-z][a-z0-9-]*)$")


def nonce_for(seed: int, slug: str, part: str) -> str:
    """Six hex digits for one part (the trace itself, or a control run) of one trace in one run."""
    return hashlib.sha256(f"{seed}/{slug}/{part}".encode()).hexdigest()[:6]


def may_hold(text: str) -> bool:
    """Whether a marker may stand in the text, of whichever nonce."""
    return "[fp" in text


@dataclass(frozen=True, slots=True)
class Markers:
    """The markers of one nonce."""

    nonce: str

    def tag(self, name: str) -> str:
        """The marker for an item or tool output name, e.g. `plan.user` or `edit.end`."""
        return f"[fp{self.nonce}.{name}]"

    def mark(self, text: str, name: str) -> str:
        """The text with its marker behind it."""
        return f"{text} {self.tag(name)}"

    def find(self, text: str) -> list[str]:
        """Every marker's name in the text, in order; those of another nonce come as `foreign/NAME`."""
        if not may_hold(text):
            return []
        return [
            name[1:] if nonce == self.nonce else f"foreign/{name[1:]}"
            for nonce, name in (m.groups() for m in _MARKER.finditer(text))
        ]

    def opaque(self, name: str) -> str:
        """A signature or encrypted form for this item: base64 text that tells nothing, and another in each run."""
        seed = f"{self.nonce}/{name}".encode()
        return base64.b64encode(b"".join(hashlib.sha256(seed + bytes([n])).digest() for n in range(4))).decode()

    def call_id(self, call: str) -> str:
        """The id that a call has on the wire; opaque to a harness and of a form that every provider allows."""
        return f"call_fp{self.nonce}_{call}"

    def call_name(self, call_id: str) -> str | None:
        """The call behind a wire id; None if the id is none of ours."""
        found = _CALL_ID.match(call_id)
        if found is None:
            return None
        return found[2] if found[1] == self.nonce else f"foreign/{found[2]}"
