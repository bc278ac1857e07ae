"""A user's HOME that tells who touched it: files of every harness and tool, watched by inotify. For tests."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from pathlib import Path
from types import TracebackType
from typing import Self

SECRET = "canary-5f1d"  # noqa: S105  # that it is known is its purpose
"""What stands in every file and every variable: nobody may carry it anywhere."""

_IN_ALL = 0xFFF
_EVENT = struct.Struct("iIII")
_NAMES = {1: "read", 2: "changed", 4: "given other attributes", 8: "closed after a change", 16: "closed", 32: "opened"}

FILES = (
    ".bashrc", ".profile", ".gitconfig", ".netrc", ".npmrc", ".ssh/id_ed25519", ".aws/credentials",
    ".codex/config.toml", ".codex/auth.json", ".codex/AGENTS.md", ".codex/sessions/old.jsonl",
    ".config/goose/config.yaml", ".config/goose/secrets.yaml", ".local/share/goose/sessions/sessions.db",
    ".pi/agent/auth.json", ".pi/agent/settings.json", ".pi/agent/sessions/old.jsonl",
    ".claude.json", ".claude/settings.json", ".claude/.credentials.json",
    ".config/opencode/opencode.json", ".local/share/opencode/auth.json", ".kimi/config.toml", ".vibe/config.toml",
    ".config/pip/pip.conf", ".config/git/config", ".cache/something/file", ".local/state/something/file",
)  # fmt: skip


class Canary:
    """The HOME while the `with` block runs; `touched` afterwards says what was done to it, and by rights is empty."""

    def __init__(self, home: Path) -> None:
        self.home = home
        for name in FILES:
            file = home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{SECRET}\n", encoding="utf-8")
        self.touched: list[str] = []
        self._libc = ctypes.CDLL(None, use_errno=True)

    @property
    def variables(self) -> dict[str, str]:
        """A user's environment: every place points into the HOME, every key is the secret."""
        places = {
            "HOME": "",
            "XDG_CONFIG_HOME": ".config",
            "XDG_DATA_HOME": ".local/share",
            "XDG_CACHE_HOME": ".cache",
            "XDG_STATE_HOME": ".local/state",
            "CODEX_HOME": ".codex",
            "CLAUDE_CONFIG_DIR": ".claude",
            "PI_CODING_AGENT_DIR": ".pi/agent",
            "NPM_CONFIG_USERCONFIG": ".npmrc",
            "npm_config_userconfig": ".npmrc",
            "GIT_CONFIG_GLOBAL": ".gitconfig",
        }
        keys = (
            "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CODEX_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY",
            "MISTRAL_API_KEY", "KIMI_API_KEY",
            "NPM_TOKEN", "NODE_AUTH_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "GOOSE_PROVIDER",
            "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
        )  # fmt: skip
        return {name: str(self.home / place) for name, place in places.items()} | dict.fromkeys(keys, SECRET)

    def __enter__(self) -> Self:
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        places = [self.home, *self.home.rglob("*")]
        # Watched one by one: a folder's watch tells of its own entries only.
        self._places = {self._watch(place): place for place in places}
        return self

    def _watch(self, place: Path) -> int:
        watch: int = self._libc.inotify_add_watch(self._fd, os.fsencode(place), _IN_ALL)
        if watch < 0:
            raise OSError(ctypes.get_errno(), f"inotify_add_watch {place}")
        return watch

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            while data := self._more():
                self._take(data)
        finally:
            os.close(self._fd)

    def _more(self) -> bytes:
        try:
            return os.read(self._fd, 65536)
        except OSError as blocked:
            if blocked.errno != errno.EAGAIN:
                raise
            return b""

    def _take(self, data: bytes) -> None:
        place = 0
        while place < len(data):
            watch, mask, _, length = _EVENT.unpack_from(data, place)
            name = data[place + _EVENT.size : place + _EVENT.size + length].rstrip(b"\0").decode()
            what = ", ".join(said for bit, said in _NAMES.items() if mask & bit) or f"mask {mask:#x}"
            self.touched.append(f"{self._places[watch] / name}: {what}")
            place += _EVENT.size + length
