"""A harness from PyPI: a real pip and a real virtual environment, on a wheel that this test makes."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from forkproof.adapters.errors import InstallFailed
from forkproof.adapters.pypi import VARIABLE, Pip, interpreter

PROGRAM = "import sys\n\n\ndef main():\n    print('vibe-acp 9.9.9', *sys.argv[1:])\n"


def make_wheel(folder: Path) -> Path:
    """A wheel with one console script, as small as one can be."""
    info = "mistral_vibe-9.9.9.dist-info"
    files = {
        "little_agent.py": PROGRAM,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: mistral-vibe\nVersion: 9.9.9\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\nvibe-acp = little_agent:main\n",
    }
    wheel = folder / "mistral_vibe-9.9.9-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        record = []
        for name, text in files.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(text)}")
        archive.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
    return wheel


def user(wheels: Path) -> dict[str, str]:
    """The environment of somebody whose pip looks into a folder only."""
    return {"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), VARIABLE: sys.executable}


def test_an_environment_is_whole_wherever_it_is_moved(tmp_path: Path) -> None:
    """It is made in a staging folder and renamed into place; its launcher starts the program all the same."""
    wheel = make_wheel(tmp_path)
    staging, prefix = tmp_path / "staging", tmp_path / "staging" / "prefix"
    prefix.mkdir(parents=True)
    verified = Pip(staging, user(tmp_path)).install("mistral-vibe==9.9.9", "bin/vibe-acp", prefix, lambda _: None)
    assert verified == f"sha256-{hashlib.sha256(wheel.read_bytes()).hexdigest()}"
    place = tmp_path / "a place" / "9.9.9"
    place.parent.mkdir()
    prefix.rename(place)
    ran = subprocess.run([place / "bin/vibe-acp", "--version"], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout == "vibe-acp 9.9.9 --version\n"


def test_a_version_that_there_is_not_is_told_with_what_to_ask(tmp_path: Path) -> None:
    prefix = tmp_path / "staging" / "prefix"
    prefix.mkdir(parents=True)
    with pytest.raises(InstallFailed, match="No matching distribution") as caught:
        Pip(tmp_path / "staging", user(tmp_path)).install("mistral-vibe==1.2.3", "bin/vibe-acp", prefix, lambda _: None)
    assert "is there such a version" in caught.value.hint


def test_a_python_that_is_new_enough_is_looked_for(tmp_path: Path) -> None:
    """The named one first; a name on the PATH that starts nothing is none, and none at all is told."""
    assert interpreter((3, 11), {VARIABLE: "/opt/python"}) == Path("/opt/python")
    assert interpreter((3, 11), {"PATH": ""}) == Path(sys.executable)
    shims = tmp_path / "shims"
    shims.mkdir()
    for name in ("python3.19", "python3.18"):
        (shims / name).write_text(f"#!/bin/sh\nexit {0 if name.endswith('8') else 127}\n", encoding="utf-8")
        (shims / name).chmod(0o755)
    assert interpreter((3, 18), {"PATH": str(shims), "HOME": str(tmp_path)}) == shims / "python3.18"
    with pytest.raises(InstallFailed, match=r"needs Python 3\.19") as caught:
        interpreter((3, 19), {"PATH": str(shims), "HOME": str(tmp_path)})
    assert VARIABLE in caught.value.hint
