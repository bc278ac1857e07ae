"""Whether two answers are the same; ids may be named differently, and then stand for each other throughout."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Id", "Names"]


class Id(NamedTuple):
    """A name that a harness gave out. Names of one kind are compared through the mapping alone."""

    kind: str
    name: str


class Names:
    """Which name of the first harness stands for which of the second; both ways, for ever."""

    def __init__(self) -> None:
        self._there: dict[Id, Id] = {}
        self._back: dict[Id, Id] = {}

    def match(self, first: Id, second: Id) -> bool:
        """Whether these two stand for each other; two new names do from now on."""
        if first not in self._there and second not in self._back:
            self._there[first] = second
            self._back[second] = first
        return self._there.get(first) == second and first.kind == second.kind

    def difference(self, first: Any, second: Any, place: str = "") -> str | None:
        """The first place where two answers differ, with what stands there; None if they are the same.

        This runs over everything that both sides hold, after every step, so the usual way is kept short.
        """
        kind = type(first)
        if kind is Id and type(second) is Id:
            same = self._there.get(first) == second or self.match(first, second)
            return None if same else _told(first, second, place)
        if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
            for index, (one, two) in enumerate(zip(first, second, strict=False)):
                found = self.difference(one, two, f"{place}[{index}]")
                if found is not None:
                    return found
            return None if len(first) == len(second) else _told(first, second, place)
        if kind is dict and type(second) is dict and first.keys() == second.keys():
            for key, one in first.items():
                found = self.difference(one, second[key], f"{place}.{key}")
                if found is not None:
                    return found
            return None
        return None if kind is type(second) and first == second else _told(first, second, place)


def _told(first: Any, second: Any, place: str) -> str:
    return f"{place}: the first has {first!r}, the second {second!r}"
