"""The word that was probably meant."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

__all__ = ["did_you_mean", "nearest"]

_MANY = 500
"""Among more words than this the search would cost more than it helps."""


def nearest(word: str, known: Collection[str]) -> str | None:
    """The known word that is most like this one, if one is like it at all."""
    if len(known) > _MANY:
        return None
    close = get_close_matches(word, list(known), n=1)
    return close[0] if close else None


def did_you_mean(word: str, known: Collection[str]) -> str:
    """The end of a message: `; did you mean ...?`, or nothing."""
    close = nearest(word, known)
    return f"; did you mean `{close}`?" if close else ""
