"""YAML as traces use it: JSON's meaning of scalars, the place of everything, and refusals in place of surprises."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from forkproof.conformance.trace.document import MAX_DEPTH, MAX_VALUES, Document, parse
from forkproof.conformance.trace.load import discover
from forkproof.conformance.trace.place import Place
from forkproof.conformance.trace.problem import TraceError
from forkproof.conformance.trace.source import MAX_BYTES


def read(text: str) -> Document:
    return parse(text.encode(), "t.yaml")


def refusal(data: bytes) -> list[str]:
    """The problems of a document, `line:column: code message` each, whether they stop the reading or not."""
    try:
        found = parse(data, "t").problems
    except TraceError as error:
        found = error.problems
    return [str(problem).removeprefix("t:") for problem in found]


# Characters that a file may hold as such; what else there is goes into quotes, as escapes.
plain = st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufeff\ufffe\uffff\u2028\u2029")
text = st.text(plain, max_size=12)
scalars = text | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(allow_nan=False, allow_infinity=False)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)


@given(documents)
def test_json_means_what_it_means_in_json(value: Any) -> None:
    """Every JSON text without null is a document and reads as itself: the language has no meaning of its own."""
    written = json.dumps(value, ensure_ascii=False)
    document = read(written)
    assert (document.value, document.problems) == (value, ())


# JSON's numbers that YAML 1.1 does not know, so that PyYAML leaves them unquoted: `0E0`, `-1e5`.
wordy = text.filter(lambda written: re.fullmatch(r"-?[0-9]+[eE][-+]?[0-9]+", written) is None)


@given(st.dictionaries(wordy, st.lists(wordy, max_size=3) | wordy, min_size=1, max_size=4))
def test_reads_what_a_yaml_writer_wrote(value: Any) -> None:
    """Texts come back whole from any style that PyYAML chooses for them: plain, quoted, folded."""
    written = yaml.safe_dump(value, allow_unicode=True, default_flow_style=False)
    assert read(written).value == value


WORDS = "yes no on off y n Yes NO True FALSE Null NULL 012 0o17 0x1F 1_000 12:30:00 .5 1. +1 .inf .NaN 1e = <<"


@pytest.mark.parametrize("word", [*WORDS.split(), "2024-01-01", "2001-12-14t21:59:43.10-05:00"])
def test_leaves_words_as_they_are_written(word: str) -> None:
    """What YAML 1.1 would turn into a boolean, a date or an octal number stays text, as value and as key."""
    assert read(f"a: {word}\n").value == {"a": word}
    assert read(f"{word}: a\n").value == {word: "a"}


@pytest.mark.parametrize(
    ("word", "value"),
    [("true", True), ("false", False), ("0", 0), ("-7", -7), ("1.5", 1.5), ("-2e3", -2000.0), ("0.5E+1", 5.0)],
)
def test_reads_json_scalars(word: str, value: object) -> None:
    """JSON's booleans and numbers are those, unless they are quoted."""
    seen = read(f"a: {word}\nb: '{word}'\n").value
    assert seen == {"a": value, "b": word}
    assert type(seen["a"]) is type(value)


def test_knows_the_place_of_every_key_and_value() -> None:
    """Lines and columns count from 1, in characters, also after wide ones and in flow style."""
    document = read("é: 'ü'\nlist:\n  - 漢: {b: 1, 字: [x, y]}\n  - z\n")
    place = document.place
    assert (place.key(("é",)).line, place.key(("é",)).column) == (1, 1)
    assert (place.at(("é",)).line, place.at(("é",)).column) == (1, 4)
    assert (place.key(("list", 0, "漢", "字")).line, place.key(("list", 0, "漢", "字")).column) == (3, 15)
    assert (place.at(("list", 0, "漢", "字", 1)).line, place.at(("list", 0, "漢", "字", 1)).column) == (3, 22)
    assert place.at(("list", 0, "漢")).flow
    assert not place.at(("list",)).flow


def test_place_of_what_is_not_there_is_that_of_its_nearest_part() -> None:
    """A missing key is shown at the mapping that lacks it."""
    place = read("a:\n  b: 1\n").place
    assert place.at(("a", "c", "d")) is place.at(("a",))
    assert place.key(("a", "c")) is place.at(("a",))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a: \xff", "1:4: FPL001 not UTF-8: invalid start byte (byte 0xff)"),
        (b"a: b\nc: \xed\xa0\x80", "2:4: FPL001 not UTF-8: invalid continuation byte (byte 0xed)"),
        ("a: b".encode("utf-16"), "1:1: FPL001 the file is UTF-16; save it as UTF-8"),
        ("a: b".encode("utf-32"), "1:1: FPL001 the file is UTF-32; save it as UTF-8"),
        ("a: b".encode("utf-16-le"), "1:2: FPL001 a NUL character; if the file is UTF-16, save it as UTF-8"),
        (b"a: b\r\nc: \x00", "2:4: FPL001 a NUL character; if the file is UTF-16, save it as UTF-8"),
        (b"a: \x1b[2J", '1:4: FPL001 the character U+001B as such; in a quoted text write it as "\\u001b"'),
        ("é: x\u2028y".encode(), '1:5: FPL001 the character U+2028 as such; in a quoted text write it as "\\u2028"'),
        (b'a: "x\\0y"', "1:4: FPL001 a text with a NUL, which no harness could carry"),
        (b'"\\0": x', "1:1: FPL001 a text with a NUL, which no harness could carry"),
        (b"a: 1\na: 2\n", "2:1: FPL004 `a` stands twice in this mapping, first in line 1"),
        (b"a: &x b\n", "1:4: FPL003 the anchor &x: write the value out wherever it is meant"),
        (b"a: *x\n", "1:4: FPL003 the alias *x: write the value out where it is meant"),
        (b"a: !!python/name:os.system x\n", "1:4: FPL003 the tag tag:yaml.org,2002:python/name:os.system: "),
        (b"a: b\n---\nc: d\n", "2:1: FPL003 a second document begins here; a file holds one trace"),
        (b"1: a\n", "1:1: FPL003 the key 1 is not a text; quote it"),
        (b"[a]: b\n", "1:1: FPL003 a key must be a text; quote it"),
        (b"*a : b\n", "1:1: FPL003 a key must be a text; quote it"),
        (b"a:\nb: c\n", "1:1: FPL005 `a` has no value"),
        (b"a: null\n", "1:1: FPL005 `a` is null; leave the key out"),
        (b"- a\n-\n", "2:2: FPL005 an empty entry"),
        (b"", "1:1: FPL002 the file is empty"),
        (b"~", "1:1: FPL005 the file is empty"),
        (b"a: 1234567890123456789012345", "1:4: FPL010 a number with too many digits; quote it if it is a text"),
        (b"a: 1e999", "1:4: FPL010 a number with too many digits; quote it if it is a text"),
    ],
)  # fmt: skip
def test_refuses_with_a_place(data: bytes, said: str) -> None:
    """What would surprise is refused, in words, with line and column."""
    assert refusal(data)[0].startswith(said)


@pytest.mark.parametrize("escape", ["\\ud800", "\\ud83d\\ude00"])
def test_refuses_surrogates(escape: str) -> None:
    """Half a surrogate pair is no character, and YAML knows no pairs; the two parsers word it differently."""
    (said,) = refusal(f'a: "{escape}"'.encode())
    assert said.startswith("1:")
    assert said.split()[1] in ("FPL001", "FPL002")


def test_tells_of_a_comma_that_split_a_text() -> None:
    """The commonest slip of flow style is named as what it is."""
    (said,) = refusal(b"{say: Fine, thanks.}")
    assert said == (
        "1:13: FPL005 `thanks.` has no value; in flow style a comma splits a text: quote it, or write it in block style"
    )


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"{say: a: b}", "in flow style"),
        (b"say: a: b", "must be quoted"),
        (b"say: @x", "quote it"),
        (b"a:\n\tb: c", "indent by spaces"),
    ],
)
def test_helps_with_syntax(data: bytes, hint: str) -> None:
    """A syntax error says how it is mended, where that is known."""
    (said,) = refusal(data)
    assert " FPL002 " in said
    assert hint in said


def test_an_unclosed_quote_is_shown_where_it_opens() -> None:
    """The end of the file tells nothing; the quote does."""
    assert refusal(b"a: b\nc: 'open\nd: e\n")[0].startswith("2:4: FPL002 ")


def test_goes_on_after_a_refusal() -> None:
    """All problems of a file are told at once, in its order, and none twice."""
    said = refusal(b"a: &x 1\nb: *x\na: 2\n1: c\nd:\n")
    assert [s.split()[1] for s in said] == ["FPL003", "FPL003", "FPL004", "FPL003", "FPL005"]


def test_takes_a_byte_order_mark_and_windows_line_ends() -> None:
    """What editors on Windows write reads as what it says; places are those that the editor shows."""
    document = parse(b'\xef\xbb\xbfa:\r\n  - b\r\n  - |\r\n    c\r\n    d\r\n  - "e\r\n    f"\r\n', "t")
    assert document.value == {"a": ["b", "c\nd\n", "e f"]}
    assert document.place.at(("a", 2)).line == 6


@pytest.mark.parametrize(
    "said", ["עברית מימין לשמאל", "e\u0301 combined", "\u202eoverride\u202c", "👩\u200d👩\u200d👧", "\u00a0space", "ﷺ"]
)
def test_takes_every_script(said: str) -> None:
    """Right-to-left text, combining marks, joiners and direction marks are texts like others."""
    assert read(f"a: '{said}'\n").value == {"a": said}
    assert read(f"a: |\n  {said}\n").value == {"a": f"{said}\n"}


def test_both_parsers_see_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML has no C parser its Python one gives the same values at the same places."""
    data = [path.read_bytes() for path in discover()]
    fast = [_lines(parse(each, "t").place) for each in data]
    monkeypatch.setattr("forkproof.conformance.trace.document._LOADER", yaml.SafeLoader)
    assert [_lines(parse(each, "t").place) for each in data] == fast


def _lines(place: Place) -> list[Any]:
    keys = [(key, at.line, at.column) for key, at in place.keys.items()]
    return [place.line, place.column, keys, [(key, _lines(part)) for key, part in place.parts.items()]]


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "{", "[a, "])
def test_refuses_deep_nesting_before_it_hurts(opening: str) -> None:
    """Hundreds of thousands of levels are refused at the fiftieth, not at a stack's end."""
    (said,) = refusal((opening * 300_000)[: MAX_BYTES - 1].encode())
    assert said.split()[1] in ("FPL006", "FPL003")


def test_takes_nesting_up_to_the_limit() -> None:
    """Fifty levels are read, fifty-one are not."""
    assert refusal(b"[" * MAX_DEPTH + b"x" + b"]" * MAX_DEPTH) == []
    assert refusal(b"[" * (MAX_DEPTH + 1) + b"x" + b"]" * (MAX_DEPTH + 1)) == [
        f"1:{MAX_DEPTH + 1}: FPL006 nested more than 50 levels deep"
    ]


def test_refuses_too_many_values() -> None:
    """A small file of nothing but brackets can't fill the memory."""
    assert refusal(b"[" + b"x," * MAX_VALUES + b"]")[-1].endswith("FPL006 more than 500,000 keys and values")


def test_refuses_a_large_file() -> None:
    """Four mebibytes are enough for any trace; more is refused unread."""
    assert refusal(b"x" * (MAX_BYTES + 1)) == ["1:1: FPL001 the file holds 4,194,305 bytes, a trace at most 4,194,304"]
    assert refusal(b"x" * MAX_BYTES) == []


def test_refuses_an_alias_bomb_at_its_first_alias() -> None:
    """Nine lines that would unfold to a thousand million texts stay nine lines."""
    pairs = zip("abcdefgh", "bcdefghi", strict=True)
    lines = [f"{name}: &{name} [{', '.join(['*' + before] * 9)}]" for before, name in pairs]
    document = read("\n".join(['a: &a ["lol"]', *lines]))
    assert document.problems[0].code == "FPL003"
    assert len(json.dumps(document.value)) < 1000


# --- anything at all --------------------------------------------------------------------------------------------------


@given(st.binary(max_size=60) | st.text("{}[]:,-?&*!|>'\"%@`# \n\tab~\\", max_size=40).map(str.encode))
def test_never_breaks(data: bytes) -> None:
    """Whatever the bytes are, there is a document or there are problems with places, never another error."""
    try:
        found = parse(data, "t").problems
    except TraceError as error:
        found = error.problems
        assert found
    assert all(p.line >= 1 and p.column >= 1 and p.message for p in found)
    assert all("\n" not in str(p) and str(p).isprintable() for p in found)
