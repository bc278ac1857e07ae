"""Frozen dataclasses as JSON data and back: a coder made from their annotations, for what a record of a run holds.

An object is a mapping of its members without those that have their default, so that a member which comes later does not
make old records unreadable. A member that may be of several classes says which one it is. Mappings are lists of pairs,
since their order counts. What stands in many places (messages, items, files) stands once in a table, and is told by its
index there. Decoding checks all: what does not fit raises `MalformedEvidence` with the place and what was expected.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

__all__ = ["Coder", "Coders", "MalformedEvidence", "Tables"]

Encode: TypeAlias = Callable[[Any, "Tables"], Any]
Decode: TypeAlias = Callable[[Any, "Tables", str], Any]

_KIND: Final = "is"
_SCALARS: Final[Mapping[Any, str]] = {str: "a text", int: "a number", float: "a number", bool: "true or false"}


class MalformedEvidence(ValueError):
    """Data that is no evidence. The message says where, and what should stand there."""


@dataclass(slots=True)
class Tables:
    """What stands once and is told by its index: rows as JSON data by table, and what was made of them so far."""

    rows: dict[str, list[Any]] = field(default_factory=dict)
    _known: dict[tuple[str, int], int] = field(default_factory=dict)
    _made: dict[tuple[str, int], Any] = field(default_factory=dict)

    def index(self, table: str, value: Any, encode: Encode) -> int:
        """Where this object stands. Equal objects are one row only if they are one object."""
        key = (table, id(value))
        if key not in self._known:
            row = encode(value, self)
            rows = self.rows.setdefault(table, [])
            self._known[key] = len(rows)
            rows.append(row)
        return self._known[key]

    def value(self, table: str, index: Any, decode: Decode, place: str) -> Any:
        """What stands there. Raises `MalformedEvidence`."""
        if type(index) is not int:
            raise _wrong(place, f"a row of {table}", index)
        key = (table, index)
        if key not in self._made:
            rows = self.rows.get(table, [])
            if not 0 <= index < len(rows):
                raise MalformedEvidence(f"{place}: {table} has no row {index}")
            self._made[key] = decode(rows[index], self, f"{table}[{index}]")
        return self._made[key]


@dataclass(frozen=True, slots=True)
class Coder:
    """How one type is written and read. `encode` is None for what is JSON as it stands."""

    encode: Encode | None
    decode: Decode


@dataclass(frozen=True)
class Coders:
    """Makes coders. `tables` names the table of a class, or of a `(class, member)`."""

    tables: Mapping[Any, str]
    _made: dict[Any, Coder] = field(default_factory=dict)

    def of(self, hint: Any) -> Coder:
        """The coder of a type: a frozen dataclass, or what a member of one is annotated with."""
        if is_dataclass(hint) and isinstance(hint, type):
            if hint not in self._made:
                self._made[hint] = self._in_table(_of_class(self, hint), self.tables.get(hint))
            return self._made[hint]
        origin, args = get_origin(hint), get_args(hint)
        if hint in _SCALARS:
            return _scalar(hint)
        if hint is Any:
            return Coder(None, lambda data, _tables, _place: data)
        if origin is Literal:
            return _literal(args)
        if origin in {Union, types.UnionType}:
            return _union(self, args)
        if origin is tuple:
            return _rows(self.of(args[0])) if args[-1] is Ellipsis else _pair(tuple(map(self.of, args)))
        if origin is frozenset:
            return _names(self.of(args[0]))
        if origin is not None and issubclass(origin, Mapping):
            return _pairs(self.of(args[0]), self.of(args[1]))
        raise TypeError(f"there is no coder of {hint}")

    def of_member(self, owner: type, name: str, hint: Any) -> Coder:
        """The coder of a class's member."""
        return self._in_table(self.of(hint), self.tables.get((owner, name)))

    @staticmethod
    def _in_table(coder: Coder, table: str | None) -> Coder:
        if table is None:
            return coder
        encode = coder.encode or (lambda value, _tables: value)
        return Coder(
            lambda value, tables: None if value is None else tables.index(table, value, encode),
            lambda data, tables, place: None if data is None else tables.value(table, data, coder.decode, place),
        )


def _wrong(place: str, wanted: str, found: Any) -> MalformedEvidence:
    told = repr(found)
    return MalformedEvidence(f"{place}: expected {wanted}, found {told if len(told) <= 60 else told[:57] + '...'}")  # noqa: PLR2004  # one line


# --- classes ---------------------------------------------------------------------------------------------------------


@cache
def _members(cls: type) -> tuple[tuple[str, Any, Any], ...]:
    """Name, annotation and default of each member; `MISSING` where it has to be there."""
    hints = get_type_hints(cls)
    return tuple(
        (f.name, hints[f.name], f.default if f.default_factory is MISSING else f.default_factory()) for f in fields(cls)
    )


def _of_class(coders: Coders, cls: type) -> Coder:
    made = [(name, default, coders.of_member(cls, name, hint)) for name, hint, default in _members(cls)]
    writers = tuple((name, default, coder.encode) for name, default, coder in made)
    readers = {name: coder.decode for name, _, coder in made}
    needed = frozenset(name for name, default, _ in made if default is MISSING)

    def encode(value: Any, tables: Tables) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for name, default, write in writers:
            member = getattr(value, name)
            if member is default or (default is not MISSING and member == default):
                continue
            written[name] = member if write is None else write(member, tables)
        return written

    def decode(data: Any, tables: Tables, place: str) -> Any:
        if not isinstance(data, dict):
            raise _wrong(place, f"a {cls.__name__}", data)
        strange = next((name for name in data if name not in readers), None)
        if strange is not None:
            raise MalformedEvidence(f"{place}: a {cls.__name__} has no member {strange!r}")
        missing = next((name for name in readers if name in needed and name not in data), None)
        if missing is not None:
            raise MalformedEvidence(f"{place}: {missing} is missing")
        return cls(**{name: readers[name](each, tables, f"{place}.{name}") for name, each in data.items()})

    return Coder(encode, decode)


def _union(coders: Coders, args: tuple[Any, ...]) -> Coder:
    """One of several classes, which the data names; or a scalar, or None. A mapping beside a text is JSON as it is."""
    classes: dict[str, Coder] = {a.__name__: coders.of(a) for a in args if isinstance(a, type) and is_dataclass(a)}
    optional = type(None) in args
    others = [a for a in args if a is not type(None) and not (isinstance(a, type) and is_dataclass(a))]
    if len(classes) + len(others) == 1:
        only = next(iter(classes.values())) if classes else coders.of(others[0])
        if not optional:
            return only
        write = only.encode
        return Coder(
            None if write is None else lambda value, tables: None if value is None else write(value, tables),
            lambda data, tables, place: None if data is None else only.decode(data, tables, place),
        )
    plain = tuple(a if isinstance(a, type) else dict for a in others)

    def encode(value: Any, tables: Tables) -> Any:
        name = type(value).__name__
        if name not in classes:
            return value
        written = classes[name].encode
        return {_KIND: name, **(written(value, tables) if written else value)}

    def decode(data: Any, tables: Tables, place: str) -> Any:
        if (data is None and optional) or (plain and isinstance(data, plain)):
            return data
        kind = data.get(_KIND) if isinstance(data, dict) else None
        if kind not in classes:
            raise _wrong(place, f"one of {', '.join(classes)}", data)
        return classes[kind].decode({k: v for k, v in data.items() if k != _KIND}, tables, place)

    return Coder(encode, decode)


# --- what members are made of ----------------------------------------------------------------------------------------


def _scalar(kind: type) -> Coder:
    accepted = (int, float) if kind is float else (kind,)

    def decode(data: Any, _tables: Tables, place: str) -> Any:
        if type(data) not in accepted:
            raise _wrong(place, _SCALARS[kind], data)
        return data

    return Coder(None, decode)


def _literal(values: tuple[Any, ...]) -> Coder:
    def decode(data: Any, _tables: Tables, place: str) -> Any:
        if data not in values:
            raise _wrong(place, f"one of {', '.join(map(str, values))}", data)
        return data

    return Coder(None, decode)


def _list(data: Any, place: str, length: int | None = None) -> list[Any]:
    if not isinstance(data, list) or (length is not None and len(data) != length):
        raise _wrong(place, "a list" if length is None else f"a list of {length}", data)
    return data


def _rows(each: Coder) -> Coder:
    write = each.encode

    def encode(value: Any, tables: Tables) -> list[Any]:
        return list(value) if write is None else [write(v, tables) for v in value]

    def decode(data: Any, tables: Tables, place: str) -> tuple[Any, ...]:
        rows = enumerate(_list(data, place))
        return tuple(each.decode(row, tables, f"{place}[{n}]") for n, row in rows)

    return Coder(encode, decode)


def _pair(coders: tuple[Coder, ...]) -> Coder:
    def encode(value: Any, tables: Tables) -> list[Any]:
        return [c.encode(v, tables) if c.encode else v for c, v in zip(coders, value, strict=True)]

    def decode(data: Any, tables: Tables, place: str) -> tuple[Any, ...]:
        both = zip(coders, _list(data, place, len(coders)), strict=True)
        return tuple(c.decode(v, tables, f"{place}[{n}]") for n, (c, v) in enumerate(both))

    return Coder(encode, decode)


def _names(each: Coder) -> Coder:
    def decode(data: Any, tables: Tables, place: str) -> frozenset[Any]:
        return frozenset(each.decode(row, tables, f"{place}[{n}]") for n, row in enumerate(_list(data, place)))

    return Coder(lambda value, _tables: sorted(value), decode)


def _pairs(key: Coder, each: Coder) -> Coder:
    write = each.encode

    def encode(value: Any, tables: Tables) -> list[Any]:
        return [[k, v if write is None else write(v, tables)] for k, v in value.items()]

    def decode(data: Any, tables: Tables, place: str) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for n, row in enumerate(_list(data, place)):
            k, v = _list(row, f"{place}[{n}]", 2)
            found[key.decode(k, tables, f"{place}[{n}]")] = each.decode(v, tables, f"{place}[{k}]")
        return found

    return Coder(encode, decode)
