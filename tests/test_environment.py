"""The environment of a harness: built from nothing (design section 5)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from forkproof.adapters.environment import TAG, build, make_home
from forkproof.adapters.supervisor import Supervised

PRINT_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"


async def _output(argv: list[str], environment: dict[str, str], directory: Path) -> str:
    process = await Supervised.start(argv, directory=directory, environment=environment)
    try:
        said = b""
        while chunk := await process.read():
            said += chunk
        return said.decode()
    finally:
        await process.stop()


def test_nothing_of_our_own_environment_reaches_the_harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A harness sees just what `build` gives: no key, no proxy, no configuration of the person who runs the suite."""
    monkeypatch.setenv("OPENAI_API_KEY", "real-secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid")
    environment = build(tmp_path, {"FAKE_KEY": "test-key"})
    seen = json.loads(asyncio.run(_output([sys.executable, "-I", "-c", PRINT_ENVIRONMENT], environment, tmp_path)))
    assert {**seen, "LC_CTYPE": ""} == {**environment, "LC_CTYPE": ""}  # Python may add LC_CTYPE to its own
    assert seen["FAKE_KEY"] == "test-key"


def test_every_place_lies_in_the_private_home(tmp_path: Path) -> None:
    """HOME, temporary files and the XDG folders are below the trial's own HOME, and `make_home` makes them all."""
    home = tmp_path / "home"
    make_home(home)
    make_home(home)
    places = {n: Path(v) for n, v in build(home).items() if n in ("HOME", "TMPDIR") or n.startswith("XDG_")}
    assert len(places) == 7
    assert all(p.is_relative_to(home) and p.is_dir() for p in places.values())


def test_the_adapter_may_replace_all_but_the_tag(tmp_path: Path) -> None:
    """An adapter's variables win, except that the supervisor's tag is out of its reach and fresh for each trial."""
    assert build(tmp_path, {"TERM": "xterm", "PATH": "/opt"})["TERM"] == "xterm"
    assert build(tmp_path, path="/opt/bin")["PATH"] == "/opt/bin"
    assert build(tmp_path)[TAG] != build(tmp_path)[TAG]
    assert build(tmp_path, tag="t1")[TAG] == "t1"
    with pytest.raises(ValueError, match=TAG):
        build(tmp_path, {TAG: "mine"})


@pytest.mark.parametrize(("name", "value"), [("A=B", "x"), ("", "x"), ("A", "x\0y")])
def test_what_no_environment_can_hold_is_refused(tmp_path: Path, name: str, value: str) -> None:
    """A name with `=`, an empty name or a NUL is named in the error before any process starts."""
    with pytest.raises(ValueError, match="environment variable"):
        build(tmp_path, {name: value})
