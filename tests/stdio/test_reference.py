"""The reference over the open protocol gets the very same verdicts as in process."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkproof.adapters.inprocess import create
from forkproof.adapters.protocol import Deadlines
from forkproof.adapters.stdio.described import described
from forkproof.conformance.contract import load_contract
from forkproof.conformance.trace.load import LoadedTrace, discover, load
from tests.stdio.both_ways import Kept, moves_by_itself, playing, seen, served, timeless, verdicts

CONTRACT = load_contract()
TRACES = [load(path) for path in discover()]


def compare(traces: list[LoadedTrace], folder: Path) -> None:
    """Play them both ways, all over one process, and compare what is recorded."""
    with playing(CONTRACT, Kept(served(folder))) as over, playing(CONTRACT, None) as within:
        for loaded in traces:
            here, there = seen(within, loaded), seen(over, loaded)
            assert verdicts(there) == verdicts(here)
            if moves_by_itself(loaded):
                assert timeless(there) == timeless(here), loaded.slug
            else:
                assert there == here, loaded.slug


def test_it_declares_the_same(tmp_path: Path) -> None:
    """The description goes over the wire whole."""
    program = served(tmp_path)
    assert described(program, Deadlines()).description("", "") == create().describe()


def test_half_of_the_traces_get_the_same_verdicts(tmp_path: Path) -> None:
    """Issue 4: verdicts, fingerprints and what is recorded, but for what is volatile."""
    compare(TRACES[::2], tmp_path)


@pytest.mark.real
def test_the_other_half_gets_the_same_verdicts(tmp_path: Path) -> None:
    """As above; with the real harnesses, for its time."""
    compare(TRACES[1::2], tmp_path)
