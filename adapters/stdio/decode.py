"""From JSON data to the seam's frozen messages, with the place of whatever is wrong. See `wire` for the rules."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from forkproof.adapters.stdio.wire import KINDS, members

__all__ = ["WireError", "decode", "is_union"]

_Decoder: TypeAlias = Callable[[Any], Any]

_NAMES: Final = {str: "a string", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}
_SHOWN: Final = 80


class WireError(ValueError):
    """JSON data is not the message that it should be: `place` is the path of the member, `wrong` what is wrong."""

    def __init__(self, wrong: str, place: str = "") -> None:
        self.wrong = wrong
        self.place = place
        super().__init__(f"{place}: {wrong}" if place else wrong)

    def within(self, key: str | int) -> WireError:
        """The same, seen from one level further out."""
        own = f"[{key}]" if isinstance(key, int) else key
        dot = "." if self.place and not self.place.startswith("[") else ""
        return WireError(self.wrong, f"{own}{dot}{self.place}")


def decode(kind: Any, value: Any) -> Any:
    """The message of this type. Raises `WireError`, which names the member."""
    return _decoder(kind)(value)


@cache
def _decoder(kind: Any) -> _Decoder:
    if kind is Any:
        return lambda value: value
    origin = get_origin(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _message(kind)
    if is_union(kind):
        return _union(get_args(kind))
    if origin is Literal:
        return _literal(get_args(kind))
    if origin is tuple:
        return _sequence(get_args(kind)[0], tuple)
    if origin is frozenset:
        return _sequence(get_args(kind)[0], frozenset)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(get_args(kind)[1])
    if kind in _NAMES:
        return _scalar(kind)
    raise TypeError(f"no message holds {kind!r}")


def _later(kind: Any) -> Callable[[], _Decoder]:
    """The decoder of a type, made when it is asked for first (types may hold themselves) and kept at hand."""
    return cache(lambda: _decoder(kind))


def is_union(kind: Any) -> bool:
    """Whether a type is one of several."""
    return get_origin(kind) in (Union, types.UnionType)


def _wrong(wanted: str, value: Any) -> WireError:
    shown = repr(value)
    return WireError(f"{wanted} is expected, not {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}")


def _scalar(kind: type) -> _Decoder:
    taken = (int, float) if kind is float else (kind,)

    def take(value: Any) -> Any:
        if isinstance(value, taken) and (kind is bool or not isinstance(value, bool)):
            return value
        raise _wrong(_NAMES[kind], value)

    return take


def _literal(choices: tuple[Any, ...]) -> _Decoder:
    def take(value: Any) -> Any:
        if isinstance(value, str | int) and value in choices:
            return value
        raise _wrong(f"one of {', '.join(map(str, choices))}", value)

    return take


def _sequence(kind: Any, make: Callable[[list[Any]], Any]) -> _Decoder:
    each = _later(kind)

    def take(value: Any) -> Any:
        if not isinstance(value, list):
            raise _wrong("an array", value)
        take_item = each()
        made: list[Any] = []
        for item in value:
            try:
                made.append(take_item(item))
            except WireError as error:
                raise error.within(len(made)) from None
        return make(made)

    return take


def _mapping(kind: Any) -> _Decoder:
    each = _later(kind)

    def take(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _wrong("an object", value)
        take_item = each()
        made: dict[str, Any] = {}
        for key, item in value.items():
            try:
                made[key] = take_item(item)
            except WireError as error:
                raise error.within(key) from None
        return made

    return take


def _union(kinds: tuple[Any, ...]) -> _Decoder:
    """The one kind that a value is of: by its JSON type, or by the member that names it."""
    tagged = {KINDS[k].value: _later(k) for k in kinds if k in KINDS}
    plain = [k for k in kinds if k not in KINDS]
    left = [_later(k) for k in plain if k is not type(None)]
    nothing = type(None) in plain
    member = next((KINDS[k].member for k in kinds if k in KINDS), "")

    def take(value: Any) -> Any:
        if tagged and isinstance(value, dict):
            named = value.get(member)
            if not isinstance(named, str) or named not in tagged:
                raise _wrong(f"one of {', '.join(tagged)}", named).within(member)
            return tagged[named]()(value)
        if value is None and nothing:
            return None
        if len(left) == 1:
            return left[0]()(value)
        for each in left:
            try:
                return each()(value)
            except WireError:
                continue
        raise _wrong("another kind of value", value)

    return take


def _message(kind: type) -> _Decoder:
    own = KINDS.get(kind)
    fields = {m.key: (m.name, _as_it_is(m.type), _later(m.type)) for m in members(kind)}
    required = {m.name: m.key for m in members(kind) if m.required}

    def take(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _wrong("an object", value)
        found: dict[str, Any] = {}
        for key, each in value.items():
            member = fields.get(key)
            if member is None:
                if own is None or key != own.member:
                    raise WireError(f"no such member; there are {', '.join(fields) or 'none'}", key)
                continue
            name, as_it_is, of = member
            try:
                found[name] = each if type(each) is as_it_is else of()(each)
            except WireError as error:
                raise error.within(key) from None
        if not required.keys() <= found.keys():
            raise WireError("is missing", next(key for name, key in required.items() if name not in found))
        return kind(**found)

    return take


def _as_it_is(kind: Any) -> type | None:
    """The class whose values are this type's as they are, so that most members need no decoder: of JSON's own types."""
    return next((of for of in (get_args(kind) if is_union(kind) else (kind,)) if of in (str, int, bool)), None)
