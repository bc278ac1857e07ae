"""Which pi process plays which session: one for all where a release roams, else one for each directory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from forkproof.adapters.pi.fleet import Fleet
from forkproof.adapters.pi.process import PiProcess, Standing, Start
from forkproof.adapters.protocol import Deadlines


class FakePi:
    """Stands in for a process: it does what it is told, and every new session has a file of its own."""

    made: int = 0

    def __init__(self, home: Path, directory: Path) -> None:
        self.home, self.directory = home, directory
        self.free = self.compacting = False
        self.peer = self.ledger = self
        self.over = self.busy = False
        self.open = self._standing()

    def _standing(self) -> Standing:
        FakePi.made += 1
        file = self.home / f"{FakePi.made}.jsonl"
        file.touch()
        return Standing(str(FakePi.made), file, "m", "low", streaming=False, compacting=False)

    idle = PiProcess.idle

    async def until_quiet(self) -> None: ...

    def replaced(self) -> None: ...

    async def look(self) -> None: ...

    async def ask(self, kind: str, **_members: Any) -> None:
        if kind == "new_session":
            self.open = self._standing()


@pytest.mark.parametrize(("roams", "started"), [(True, ["home"]), (False, ["a", "b"])])
def test_a_release_that_does_not_roam_gets_a_process_for_each_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, roams: bool, started: list[str]
) -> None:
    """0.73.1 opens a fork before the first message where pi was started: so it is started where its session works."""
    found: list[str] = []

    async def start(how: Start, directory: Path, *_more: str) -> FakePi:
        found.append(directory.name)
        return FakePi(how.home, directory)

    monkeypatch.setattr(PiProcess, "start", start)
    how = Start((), tmp_path / "home", {}, Deadlines(), settles=True, roams=roams, ask=str)
    how.home.mkdir()

    async def run() -> None:
        fleet = Fleet(how)
        await fleet.first()
        sessions = [await fleet.fresh(str(tmp_path / name)) for name in ("a", "a", "b", "a")]
        assert len(set(sessions)) == 4
        assert (await fleet.at(sessions[2])).directory.name == ("home" if roams else "b")

    asyncio.run(run())
    assert found == started
