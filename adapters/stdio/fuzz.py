"""Protocol fuzz: an adapter is told what it should never be told, and must neither break nor answer wrongly.

Each case has a process of its own. Source: issue 4, "adapter check"; jsonrpc.org/specification for the error codes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from forkproof.adapters.errors import AdapterError
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND
from forkproof.adapters.protocol import Endpoint
from forkproof.adapters.stdio.finding import Finding
from forkproof.adapters.stdio.messages import PROTOCOL_VERSION
from forkproof.adapters.stdio.program import Program
from forkproof.adapters.stdio.rawtalk import RawTalk, SilentError

__all__ = ["CASES", "Case", "fuzz"]

HUGE: Final = 1024 * 1024
"""Characters in the longest message."""

Try: TypeAlias = Callable[[RawTalk, Endpoint | None], Awaitable[str]]
"""Gives what came; raises `WrongError` where that is not what is expected, `SilentError` for nothing."""


class WrongError(Exception):
    """Something else came."""


class Case(NamedTuple):
    """One thing to try."""

    name: str
    expected: str
    hint: str
    attempt: Try


async def fuzz(program: Program, root: Path, endpoint: Endpoint | None, seconds: float) -> AsyncIterator[Finding]:
    """Try every case; `root` is an empty private directory, `seconds` how long an answer may take."""
    for number, case in enumerate(CASES):
        yield await _try(case, program, root / f"fuzz-{number}", endpoint, seconds)


async def _try(case: Case, program: Program, root: Path, endpoint: Endpoint | None, seconds: float) -> Finding:
    try:
        came = await _attempt(case, program, root, endpoint, seconds)
    except (WrongError, SilentError, AdapterError) as error:
        return Finding(case.name, "failed", case.expected, str(error), case.hint)
    return Finding(case.name, "ok", case.expected, came)


async def _attempt(case: Case, program: Program, root: Path, endpoint: Endpoint | None, seconds: float) -> str:
    async with await RawTalk.start(program, root, seconds) as talk:
        came = await case.attempt(talk, endpoint)
        if talk.strange:
            raise WrongError(f"lines on standard output that are no JSON objects: {talk.strange[0]}")
    left = talk.process.leftovers()
    if left:
        raise WrongError(f"processes that still run: {', '.join(map(str, left))}")
    return came


# --- What is tried ----------------------------------------------------------------------------------------------------


async def _alive(talk: RawTalk) -> str:
    await talk.ask("describe")
    return "it went on"


async def _partial(talk: RawTalk, _: Endpoint | None) -> str:
    await talk.initialize()
    first, whole = talk.request("describe")
    number, line = talk.request("describe", number="\u00e9")
    line = line.replace(rb"\u00e9", "\u00e9".encode())
    cut = line.index("\u00e9".encode()) + 1  # in the middle of a character
    talk.process.send(whole + line[:cut])
    # Once the first request is answered the piece behind it has been read.
    await talk.answer(first)
    talk.process.send(line[cut:])
    await talk.answer(number)
    return "it was answered"


async def _together(talk: RawTalk, _: Endpoint | None) -> str:
    await talk.initialize()
    asked = [talk.request("describe") for _ in range(3)]
    talk.process.send(b"".join(line for _, line in asked))
    for number, _line in asked:
        await talk.answer(number)
    return "all three were answered"


async def _strings(talk: RawTalk, _: Endpoint | None) -> str:
    await talk.initialize()
    await talk.ask("describe", number="seven")
    return "the answer bears it"


def _thrown(data: bytes) -> Try:
    async def attempt(talk: RawTalk, _: Endpoint | None) -> str:
        await talk.initialize()
        talk.process.send(data)
        return await _alive(talk)

    return attempt


async def _unknown_method(talk: RawTalk, _: Endpoint | None) -> str:
    await talk.initialize()
    return _code(await talk.ask("no/such/method"), METHOD_NOT_FOUND)


async def _huge(talk: RawTalk, _: Endpoint | None) -> str:
    await talk.initialize()
    return _code(await talk.ask("no/such/method", {"text": "x" * HUGE}), METHOD_NOT_FOUND)


async def _version(talk: RawTalk, _: Endpoint | None) -> str:
    wrong = PROTOCOL_VERSION + 98
    answer = await talk.initialize(wrong)
    if isinstance(answer.get("result"), Mapping) and answer["result"].get("protocolVersion") == wrong:
        raise WrongError(f"it says that it speaks version {wrong}")
    return _told(answer)


async def _before_start(talk: RawTalk, _: Endpoint | None) -> str:
    await talk.initialize()
    told = _not_done(await talk.ask("session/open", {"cwd": str(talk.root)}))
    await _alive(talk)
    return told


async def _no_session(talk: RawTalk, endpoint: Endpoint | None) -> str:
    await talk.begin(endpoint)
    asked: Mapping[str, Mapping[str, Any]] = {
        "session/prompt": {"text": "Hello."},
        "session/compact": {},
        "session/fork": {"cut": {"kind": "head"}, "workspace": "shared", "cwd": str(talk.root)},
    }
    told = [_not_done(await talk.ask(name, {"sessionId": "never-opened", **rest})) for name, rest in asked.items()]
    return "; ".join(told)


async def _wrong_types(talk: RawTalk, endpoint: Endpoint | None) -> str:
    await talk.begin(endpoint)
    told = _not_done(await talk.ask("session/prompt", {"sessionId": 42, "text": None}))
    await _alive(talk)
    return told


async def _twice(talk: RawTalk, endpoint: Endpoint | None) -> str:
    await talk.begin(endpoint)
    await talk.ask("stop")
    return _told(await talk.ask("stop"))


async def _stop_first(talk: RawTalk, _: Endpoint | None) -> str:
    await talk.initialize()
    return _told(await talk.ask("stop"))


async def _closed(talk: RawTalk, endpoint: Endpoint | None) -> str:
    await talk.begin(endpoint)
    await talk.ask("session/open", {"cwd": str(talk.root)})
    return await _ends(talk)


async def _closed_at_once(talk: RawTalk, _: Endpoint | None) -> str:
    return await _ends(talk)


async def _ends(talk: RawTalk) -> str:
    talk.process.close_input()
    if not await talk.ended():
        raise WrongError("it runs on")
    left = talk.process.leftovers()
    if left:
        raise WrongError(f"it ended and left processes: {', '.join(map(str, left))}")
    return f"it ended with exit code {talk.process.returncode}"


def _code(answer: Mapping[str, Any], code: int) -> str:
    error = answer.get("error")
    if not isinstance(error, Mapping) or error.get("code") != code:
        raise WrongError(_told(answer))
    return _told(answer)


def _not_done(answer: Mapping[str, Any]) -> str:
    result = answer.get("result")
    if "error" not in answer and not (isinstance(result, Mapping) and result.get("outcome", "done") != "done"):
        raise WrongError(f"it says that this is done: {_told(answer)}")
    return _told(answer)


def _told(answer: Mapping[str, Any]) -> str:
    match answer:
        case {"error": {"code": code, "message": message}}:
            return f"error {code}: {message}"[:160]
        case {"result": {"outcome": outcome, **rest}}:
            return f"{outcome}: {', '.join(map(str, rest.values()))}"[:160]
        case _:
            return str({k: v for k, v in answer.items() if k not in ("jsonrpc", "id")})[:160]


_GOES_ON: Final = "it is answered with an error or passed over, and the next request is answered"
_READ_LINES: Final = "read bytes up to a newline, whatever pieces they come in, and only then decode and parse"

CASES: Final = (
    Case("a line in pieces", "the request is answered when its line is whole", _READ_LINES, _partial),
    Case("three requests at once", "each is answered under its own id", _READ_LINES, _together),
    Case("an id that is a string", "the answer bears the same id", "send back the id as it came", _strings),
    Case("empty lines", _GOES_ON, "skip a line without content", _thrown(b"\n\r\n  \n")),
    Case("no JSON", _GOES_ON, "answer -32700 with the id null, and go on", _thrown(b"this is {not JSON\n\xff\xfe\n")),
    Case("JSON, no object", _GOES_ON, "answer -32600 with the id null, and go on", _thrown(b'[1, 2]\n42\nnull\n"x"\n')),
    Case(
        "answers to nothing",
        "they are passed over",
        "look an answer's id up among your own requests, and drop it if it is none",
        _thrown(
            b'{"jsonrpc":"2.0","id":4711,"result":{}}\n{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":""}}\n'
        ),
    ),
    Case(
        "an unknown notification",
        "it is passed over",
        "what has no id wants no answer, `$/cancelRequest` included",
        _thrown(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}}\n{"jsonrpc":"2.0","method":"$/x"}\n'),
    ),
    Case(
        "an unknown method",
        f"error {METHOD_NOT_FOUND}",
        "answer whatever you do not implement with -32601: forkproof then counts it as unsupported",
        _unknown_method,
    ),
    Case("a message of 1 MiB", f"error {METHOD_NOT_FOUND}", "a line may be up to 16 MiB long; do not limit it", _huge),
    Case(
        "another version",
        "an error, or the version that it does speak",
        "compare `protocolVersion` with 1 and refuse others",
        _version,
    ),
    Case(
        "a session before `start`",
        "an error or a refusal",
        "nothing can be opened before the harness was started: answer with an error",
        _before_start,
    ),
    Case(
        "a session that was never opened",
        "refusals (or -32601), and never `done`",
        'answer `{"outcome": "refused", "reason": "unknown-session", "message": ...}`',
        _no_session,
    ),
    Case(
        "params of wrong types", "an error or a refusal, and it goes on", "answer -32602 (invalid params)", _wrong_types
    ),
    Case(
        "stop twice",
        "both are answered",
        "`stop` may come at any time, also twice: then there is nothing to do",
        _twice,
    ),
    Case("stop before start", "it is answered", "`stop` may come at any time", _stop_first),
    Case(
        "the input is closed",
        "it ends by itself, and so does all that it started",
        "at the end of standard input end the harness, then exit",
        _closed,
    ),
    Case("the input is closed at once", "it ends by itself", "at the end of standard input exit", _closed_at_once),
)
"""Every case, in the order in which they are tried."""
