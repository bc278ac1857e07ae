"""A session's settings in Codex's words: model, effort, and the three permission modes of the trace language.

A mode is a pair of Codex's own choices, the approval policy and the sandbox (docs/codex.md, "Permission modes"). For a
mode that the language does not know, whatever is asked for goes to Codex as it is: to refuse it is Codex's to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from forkproof.adapters.protocol import SettingValue

__all__ = ["MODES", "SETTINGS", "Mode", "changed", "given", "mode_of", "strange"]

SETTINGS: Final = ("model", "effort", "permissions")


@dataclass(frozen=True, slots=True)
class Mode:
    """One permission mode: Codex's approval policy and the kind of its sandbox, as requests name them."""

    approval: str
    sandbox: str


MODES: Final[Mapping[str, Mode]] = {
    "auto": Mode("never", "danger-full-access"),
    # `untrusted` asks before whatever is not known to read only; without a sandbox an allowed command can do its work.
    "ask": Mode("untrusted", "danger-full-access"),
    "read-only": Mode("never", "read-only"),
}

# The sandbox as answers state it, and as `thread/settings/update` takes it, by the name that other requests take.
_POLICIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "danger-full-access": {"type": "dangerFullAccess"},
    "read-only": {"type": "readOnly", "networkAccess": False},
}


def strange(settings: Mapping[str, SettingValue]) -> list[str]:
    """The settings that Codex has no word for."""
    return sorted(set(settings) - set(SETTINGS))


def given(settings: Mapping[str, SettingValue]) -> dict[str, Any]:
    """The parameters of `thread/start` and `thread/fork` for settings that are given there."""
    params: dict[str, Any] = {}
    if "model" in settings:
        params["model"] = settings["model"]
    if "effort" in settings:
        params["config"] = {"model_reasoning_effort": settings["effort"]}
    if "permissions" in settings:
        mode = _mode(settings["permissions"])
        params |= {"approvalPolicy": mode.approval, "sandbox": mode.sandbox}
    return params


def changed(settings: Mapping[str, SettingValue]) -> dict[str, Any]:
    """The parameters of `thread/settings/update` for settings that change."""
    params: dict[str, Any] = {name: settings[name] for name in ("model", "effort") if name in settings}
    if "permissions" in settings:
        mode = _mode(settings["permissions"])
        params |= {"approvalPolicy": mode.approval, "sandboxPolicy": _POLICIES[mode.sandbox]}
    return params


def mode_of(approval: str | None, sandbox: str | None) -> str | None:
    """The mode that an answer states by its approval policy and its sandbox's type; None for any other pair."""
    stated = (approval, sandbox)
    pairs = {(mode.approval, _POLICIES[mode.sandbox]["type"]): name for name, mode in MODES.items()}
    return pairs.get(stated)  # type: ignore[arg-type]  # a pair with a None is simply not there


def _mode(value: SettingValue) -> Mode:
    return MODES.get(str(value), Mode(str(value), "read-only"))
