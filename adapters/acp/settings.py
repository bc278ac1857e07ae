"""A session's settings over ACP: what an agent states of them, and by which method each is changed.

ACP has configuration options (stable), and before them modes and models with methods of their own; an agent may state
any of the three in its answer to `session/new`, `session/fork` or `session/load`. Clauses SET-1 to SET-8, AUT-2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forkproof.adapters.acp.recipe import Recipe

__all__ = ["change", "stated"]


def stated(answer: Mapping[str, Any], recipe: Recipe) -> Mapping[str, Any]:
    """The settings that an answer states, in the recipe's names and a trace's values; the agent's where it has none."""
    told: dict[str, Any] = {}
    match answer.get("modes"):
        case {"currentModeId": str(mode)}:
            told["mode"] = mode
    match answer.get("models"):
        case {"currentModelId": str(model)}:
            told["model"] = model
    for option in answer.get("configOptions") or ():
        match option:
            case {"id": str(name), "currentValue": str() | bool() | int() | float() | None as value}:
                told[name] = value
    named = {recipe.settings.get(option, option): value for option, value in told.items()}
    return {name: _trace_value(name, value, recipe) for name, value in named.items()}


def change(
    session: str, name: str, value: str, answer: Mapping[str, Any], recipe: Recipe
) -> tuple[str, Mapping[str, Any]]:
    """The request that gives a session this setting: its method and parameters.

    `answer` is the one in which the agent stated the session's settings. What it stated nowhere is asked for as a
    configuration option: the agent itself is to refuse it.
    """
    option = next((option for option, known in recipe.settings.items() if known == name), name)
    wanted = recipe.values.get(name, {}).get(value, value)
    options = {each.get("id") for each in answer.get("configOptions") or () if isinstance(each, Mapping)}
    if option not in options and option == "mode" and answer.get("modes"):
        return "session/set_mode", {"sessionId": session, "modeId": wanted}
    if option not in options and option == "model" and answer.get("models"):
        return "session/set_model", {"sessionId": session, "modelId": wanted}
    return "session/set_config_option", {"sessionId": session, "configId": option, "value": wanted}


def _trace_value(name: str, value: Any, recipe: Recipe) -> Any:
    known = recipe.values.get(name, {})
    return next((ours for ours, theirs in known.items() if theirs == value), value)
