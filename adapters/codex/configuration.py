"""Codex's configuration for one trial: the model provider that is ours, and nothing that would talk to anybody else.

Source: harness report on Codex, "Drive recipe", and docs/codex.md. `features.plugins` makes start-up look for outside
hosts; retries are off, so that a scripted failure is seen once; goals and skills only make every prompt longer.
"""

from __future__ import annotations

import json

__all__ = ["KEY_VARIABLE", "MODEL", "render"]

MODEL = "fake-model"
"""A name that Codex has no catalogue entry for: it warns, and offers the plain shell tool."""

KEY_VARIABLE = "FORKPROOF_MODEL_KEY"
"""The environment variable from which Codex takes the model server's key."""

_TEMPLATE = """\
model = {model}
model_provider = "forkproof"
check_for_update_on_startup = false
web_search = "disabled"

[model_providers.forkproof]
name = "forkproof"
base_url = {base_url}
env_key = {key_variable}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[analytics]
enabled = false

[feedback]
enabled = false

[features]
plugins = false
apps = false
goals = false

[skills]
include_instructions = false

[skills.bundled]
enabled = false
"""


def render(server: str) -> str:
    """The text of `config.toml`; `server` is the model server's address, e.g. `http://127.0.0.1:41234`."""
    return _TEMPLATE.format(
        model=_quoted(MODEL), base_url=_quoted(f"{server.rstrip('/')}/v1"), key_variable=_quoted(KEY_VARIABLE)
    )


def _quoted(text: str) -> str:
    # A JSON string is a TOML basic string too.
    return json.dumps(text)
