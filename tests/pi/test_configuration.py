"""What pi finds about its model: the wire format, and what it may say on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forkproof.adapters.pi.configuration import PROVIDER, write_models
from forkproof.adapters.protocol import Endpoint


@pytest.mark.parametrize(
    ("wire", "threads", "url", "compat"),
    [
        ("chat", False, "http://127.0.0.1:1/v1", None),
        ("responses", False, "http://127.0.0.1:1/v1", None),
        ("messages", False, "http://127.0.0.1:1", {"forceAdaptiveThinking": True}),
        ("messages", True, "http://127.0.0.1:1", {"forceAdaptiveThinking": True, "supportsMessageThreads": True}),
    ],
)
def test_the_provider_fits_the_wire(
    tmp_path: Path, wire: str, url: str, compat: dict[str, bool] | None, *, threads: bool
) -> None:
    """Over Messages a level of thinking is an effort, as on the other wires: so what a fork keeps of it can be seen."""
    write_models(tmp_path, Endpoint("http://127.0.0.1:1/", "key"), wire, ["a", "b"], threads=threads)
    written = json.loads((tmp_path / ".pi" / "agent" / "models.json").read_text(encoding="utf-8"))
    provider = written["providers"][PROVIDER]
    assert (provider["baseUrl"], provider.get("compat")) == (url, compat)
    assert [model["id"] for model in provider["models"]] == ["a", "b"]
