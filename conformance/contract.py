"""The fork contract: every clause that can be judged, typed and frozen. Its text stands in contract.yaml beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import Field, StringConstraints, ValidationError

from forkproof.conformance.trace.base import ClauseId, Many, TraceModel
from forkproof.conformance.trace.document import parse
from forkproof.conformance.trace.problem import TraceError

__all__ = [
    "PROFILES", "Clause", "Contract", "ContractError", "Level", "Profile", "load_contract", "load_untested",
    "read_contract",
]  # fmt: skip

SHORTEST_REASON = 20
"""Letters below which a reason says nothing."""

Level: TypeAlias = Literal["MUST", "SHOULD"]
"""A broken MUST fails a run, a broken SHOULD only warns."""

Profile: TypeAlias = Literal["core", "extended"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
"""Core clauses hold for every harness that forks, extended ones need a feature that not every harness has."""

_Text = Annotated[str, StringConstraints(min_length=1)]
_Source = Annotated[str, StringConstraints(pattern=r"^(seed [0-9]{3}( \([^()]+\))?|[a-z][a-z0-9]*-[0-9]+[a-z]?)$")]


class ContractError(Exception):
    """The contract's own file is wrong: a fault of the suite, never of a harness."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One demand. `sources` are passages of the seeds and public bug reports; empty where it is only our own."""

    id: str
    area: str
    area_title: str
    level: Level
    profile: Profile
    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """All clauses of one revision.

    `areas` is area id -> title, `clauses` clause id -> clause, both in the file's order. `sha256` is over the file's
    bytes and goes into the record of a run.
    """

    revision: int
    areas: Mapping[str, str]
    clauses: Mapping[str, Clause]
    sha256: str

    def profile(self, level: str | None) -> frozenset[str]:
        """The ids of the clauses of a certification level; `extended`, as None, is all. Raises `ContractError`."""
        if level not in (None, *PROFILES):
            raise ContractError(f"the contract has no profile {level!r}; known are {', '.join(PROFILES)}")
        return frozenset(c.id for c in self.clauses.values() if level != "core" or c.profile == "core")


class _ClauseEntry(TraceModel):
    id: ClauseId
    level: Level
    profile: Profile
    text: _Text
    sources: Many[_Source] = ()


class _AreaEntry(TraceModel):
    id: Annotated[str, StringConstraints(pattern=r"^[A-Z]+$")]
    title: _Text
    clauses: Annotated[Many[_ClauseEntry], Field(min_length=1)]


class _File(TraceModel):
    revision: Annotated[int, Field(ge=1)]
    areas: Annotated[Many[_AreaEntry], Field(min_length=1)]


@cache
def load_contract() -> Contract:
    """The contract that comes with forkproof; read once. Raises `ContractError` for a damaged installation."""
    return read_contract(files("forkproof.conformance").joinpath("contract.yaml").read_bytes())


def load_untested(contract: Contract) -> Mapping[str, str]:
    """Clause id -> why no trace can judge it yet. Raises `ContractError` for an unknown clause or an empty reason."""
    document = parse(_untested_text(), "untested.yaml")
    found: dict[str, str] = document.value if isinstance(document.value, dict) else {}
    for clause, reason in found.items():
        if clause not in contract.clauses or not isinstance(reason, str) or len(reason) < SHORTEST_REASON:
            raise ContractError(f"untested.yaml: {clause} is no clause, or its reason says nothing")
    return MappingProxyType(found)


def _untested_text() -> bytes:
    return files("forkproof.conformance").joinpath("untested.yaml").read_bytes()


def read_contract(data: bytes) -> Contract:
    """A contract from its YAML text.

    Raises `ContractError` if it is malformed, or if an id stands twice or in another area than its own.
    """
    file = _read(data)
    clauses = [_clause(entry, area) for area in file.areas for entry in area.clauses]
    areas = {area.id: area.title for area in file.areas}
    by_id = {clause.id: clause for clause in clauses}
    misplaced = [c.id for c in clauses if c.id.partition("-")[0] != c.area]
    if len(by_id) != len(clauses) or len(areas) != len(file.areas) or misplaced:
        raise ContractError(
            f"contract.yaml: an id stands twice, or in the wrong area: {', '.join(misplaced) or 'twice'}"
        )
    return Contract(file.revision, MappingProxyType(areas), MappingProxyType(by_id), sha256(data).hexdigest())


def _read(data: bytes) -> _File:
    try:
        document = parse(data, "contract.yaml")
        file = _File.model_validate(document.value)
    except (TraceError, ValidationError) as error:
        raise ContractError(f"contract.yaml: {error}") from error
    if document.problems:
        raise ContractError("\n".join(map(str, document.problems)))
    return file


def _clause(entry: _ClauseEntry, area: _AreaEntry) -> Clause:
    return Clause(entry.id, area.id, area.title, entry.level, entry.profile, entry.text, entry.sources)
