"""Reading a request's body: whatever comes in is one JSON object or a clear refusal."""

import gzip
import json
import zlib
from typing import Any

import pytest

from forkproof.adapters.model import body
from forkproof.adapters.model.codec import MalformedRequestError


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("", bytes), ("identity", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", _raw_deflate)],
)
def test_a_packed_body_is_unpacked(encoding: str, pack: Any) -> None:
    """gzip, and deflate in both of its common forms, read like a plain body."""
    sent = {"text": "ünï \u2028 😀"}
    assert body.read(pack(json.dumps(sent, ensure_ascii=False).encode()), encoding) == sent


@pytest.mark.parametrize(
    ("raw", "encoding", "status", "words"),
    [
        (b"", "", 400, "not JSON"),
        (b"nope", "", 400, "not JSON"),
        (b"[]", "", 400, "not an object"),
        (b'{"a": "\xff"}', "", 400, "not UTF-8: byte 7 is 0xff"),
        (b'{"a": NaN}', "", 400, "NaN is not JSON"),
        (b'{"a": ' + b"1" * 5000 + b"}", "", 400, "can't be read"),
        (b'{"a": ' + b"[" * 100_000, "", 400, "can't be read"),
        (b"(\xb5/\xfd", "zstd", 415, "'zstd' is not supported"),
        (b"nope", "gzip", 400, "not gzip data"),
        (gzip.compress(b"{}", mtime=0)[:-4], "gzip", 400, "cut short"),
        (gzip.compress(b" " * 10_000 + b"{}", mtime=0), "gzip", 413, "more than 5000 bytes"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_body_that_is_no_object_is_refused(
    monkeypatch: pytest.MonkeyPatch, raw: bytes, encoding: str, status: int, words: str
) -> None:
    """Whatever comes in, the refusal has a status and says what is wrong; a bomb isn't unpacked past the limit."""
    monkeypatch.setattr(body, "LIMIT", 5000)
    with pytest.raises(MalformedRequestError) as refusal:
        body.read(raw, encoding)
    assert refusal.value.status == status
    assert words in str(refusal.value)
