"""A trace's text before YAML reads it: size, encoding and characters, each refusal with its line and column."""

from __future__ import annotations

import re

from forkproof.conformance.trace.problem import Problem, TraceError

__all__ = ["MAX_BYTES", "decode"]

MAX_BYTES = 4 * 1024 * 1024
"""The largest trace file, in bytes; a text of a megabyte fits in with room to spare."""

_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_UTF8_MARK = b"\xef\xbb\xbf"

# Control characters, and those that YAML 1.1 takes for line ends but no editor does: positions would be off.
_STRANGE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def decode(data: bytes, file: str) -> str:
    """The text of a file. Raises `TraceError` (FPL001) if it is too large, not UTF-8, or holds characters of control.

    A UTF-8 byte order mark, which some editors write, is dropped. Line ends may be LF or CRLF.
    """
    if len(data) > MAX_BYTES:
        raise _refused(file, 1, 1, f"the file holds {len(data):,} bytes, a trace at most {MAX_BYTES:,}")
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            raise _refused(file, 1, 1, f"the file is {encoding}; save it as UTF-8")
    data = data.removeprefix(_UTF8_MARK)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line, column = _place(data[: error.start].decode())
        raise _refused(file, line, column, f"not UTF-8: {error.reason} (byte 0x{data[error.start]:02x})") from None
    found = _STRANGE.search(text)
    if found:
        line, column = _place(text[: found.start()])
        raise _refused(file, line, column, _strange(found[0]))
    return text


def _strange(character: str) -> str:
    code = ord(character)
    if code == 0:
        return "a NUL character; if the file is UTF-16, save it as UTF-8"
    return f'the character U+{code:04X} as such; in a quoted text write it as "\\u{code:04x}"'


def _place(before: str) -> tuple[int, int]:
    lines = re.split("\r\n|\r|\n", before)
    return len(lines), len(lines[-1]) + 1


def _refused(file: str, line: int, column: int, message: str) -> TraceError:
    return TraceError([Problem(file, line, column, "FPL001", message)])
