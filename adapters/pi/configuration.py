"""pi's files below its own HOME, the models that it may use, and its command line. Source: docs/pi.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from forkproof.adapters.protocol import Endpoint

__all__ = [
    "BRIDGE",
    "DEFAULT_MODEL",
    "PROVIDER",
    "WIRES",
    "arguments",
    "environment",
    "sessions_folder",
    "stored_sessions",
    "write_models",
    "write_settings",
]

PROVIDER = "forkproof"
DEFAULT_MODEL = "fake-1"

WIRES: Mapping[str, tuple[str, str]] = {
    "chat": ("openai-completions", "/v1"),
    "responses": ("openai-responses", "/v1"),
    "messages": ("anthropic-messages", ""),
}
"""Wire format -> pi's name of it, and what stands behind the server's address."""

_THREADS = "supportsMessageThreads"
_ADAPTIVE = "forceAdaptiveThinking"
"""Without it pi tells Anthropic's models how far to think by a number of tokens, and no effort."""

BRIDGE = Path(str(files("forkproof.adapters.pi") / "bridge.js"))

_AGENT = Path(".pi", "agent")

# One server error must end the turn: by default pi tries again for 14 seconds. pi keeps its tail by tokens, of four
# characters each: 13 are more than a trace's short answers have, and no more than an answer with its question, so that
# a compaction keeps the newest turn. A turn that holds calls is split, with a summary of its own (docs/pi.md).
_SETTINGS = {
    "defaultProvider": PROVIDER,
    "defaultModel": DEFAULT_MODEL,
    "defaultThinkingLevel": "medium",
    "quietStartup": True,
    "retry": {"enabled": False},
    "compaction": {"enabled": True, "reserveTokens": 1000, "keepRecentTokens": 13},
    "branchSummary": {"reserveTokens": 100},
}

_LEAN = ("--no-extensions", "--no-skills", "--no-context-files")
"""Nothing but what is asked for: no discovery of extensions, skills and context files."""


def write_settings(home: Path) -> None:
    """Write `settings.json` as it is at the start; pi notes a chosen model in it, as the default of later sessions."""
    (_folder(home) / "settings.json").write_text(json.dumps(_SETTINGS), encoding="utf-8")


def write_models(home: Path, endpoint: Endpoint, wire: str, models: Sequence[str], *, threads: bool = False) -> None:
    """Write `models.json`: these are all the models that pi is to know."""
    api, path = WIRES[wire]
    provider: dict[str, Any] = {
        "baseUrl": endpoint.url.rstrip("/") + path,
        "api": api,
        "apiKey": endpoint.key,
        "models": [_model(name) for name in models],
    }
    compat = {name: True for name, holds in ((_ADAPTIVE, wire == "messages"), (_THREADS, threads)) if holds}
    if compat:
        provider["compat"] = compat
    (_folder(home) / "models.json").write_text(json.dumps({"providers": {PROVIDER: provider}}), encoding="utf-8")


def _folder(home: Path) -> Path:
    folder = home / _AGENT
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _model(name: str) -> dict[str, Any]:
    free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    return {
        "id": name,
        "reasoning": True,
        "input": ["text"],
        "contextWindow": 128_000,
        "maxTokens": 4096,
        "cost": free,
    }


def environment(hooks: Sequence[str]) -> dict[str, str]:
    """The variables of pi's own: it is to reach nobody but the model, and its bridge is to ask these hooks."""
    return {
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
        "PI_SKIP_VERSION_CHECK": "1",
        "FORKPROOF_HOOKS": json.dumps(list(hooks)),
    }


def arguments(version: tuple[int, ...]) -> tuple[str, ...]:
    """What stands behind the program in every start."""
    lean = _LEAN if version < (1, 0, 0) else (*_LEAN, "--no-mcp")
    return ("--mode", "rpc", "-e", str(BRIDGE), *lean)


def stored_sessions(home: Path) -> list[Path]:
    """The file of every session that pi has stored, of all directories."""
    return sorted((home / _AGENT / "sessions").glob("*/*.jsonl"))


def sessions_folder(home: Path, directory: str) -> Path:
    """Where pi keeps the sessions of a directory."""
    name = directory.lstrip("/").replace("/", "-").replace(":", "-")
    return home / _AGENT / "sessions" / f"--{name}--"
