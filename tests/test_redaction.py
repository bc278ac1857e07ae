"""The quick ways of the redactor: a text of JSON as a whole says the same as each of its strings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from forkproof.reports.redaction import Redactor

# Letters that JSON's escapes begin with or hold, what ends a path, and what JSON escapes itself.
TEXTS = st.text(alphabet='anu/0b\\\n"<é-x\x08', max_size=12)
DATA = st.recursive(
    TEXTS | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
LITERALS = st.dictionaries(TEXTS.filter(bool), st.just("$IT"), max_size=3)


def walked(redactor: Redactor, value: Any) -> Any:
    """Every string by itself."""
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, Mapping):
        return {walked(redactor, k): walked(redactor, v) for k, v in value.items()}
    return [walked(redactor, v) for v in value] if isinstance(value, list) else value


@given(value=DATA, secrets=LITERALS, paths=LITERALS)
def test_data_are_redacted_string_by_string(value: Any, secrets: dict[str, str], paths: dict[str, str]) -> None:
    """Whatever JSON escapes in the data or in a literal, the result is that of each string alone."""
    redactor = Redactor(secrets, paths)
    assert redactor.data(value) == walked(redactor, value)


@given(value=DATA, secrets=LITERALS, paths=LITERALS)
def test_silence_is_only_promised_where_nothing_changes(
    value: Any, secrets: dict[str, str], paths: dict[str, str]
) -> None:
    """A text that is said to hold no literal was made from data that hold none."""
    redactor = Redactor(secrets, paths)
    if redactor.silent_on(json.dumps(value)):
        assert walked(redactor, value) == value
