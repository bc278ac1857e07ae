"""The JSON-RPC peer: lossless, both ways, and every end of the talk has its error."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.adapters.environment import build
from forkproof.adapters.errors import Garbage, HarnessDied, HarnessHung
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND, Peer, RpcError
from forkproof.adapters.supervisor import Supervised

PROGRAMS = Path(__file__).parent / "programs"
PATIENT = 60.0


class Scripted:
    """A process that answers what `replies` makes of each message, in chunks of a chosen size."""

    def __init__(self, replies: Callable[[dict[str, Any]], bytes | None], chunk: int = 1 << 20) -> None:
        self._replies = replies
        self._chunk = chunk
        self._take: Callable[[bytes], None] | None = None
        self.sent: list[dict[str, Any]] = []

    def send(self, data: bytes) -> None:
        assert data.endswith(b"\n")
        self.sent.append(json.loads(data))
        reply = self._replies(self.sent[-1])
        if reply is None:
            self._give(b"")
        else:
            self.say(reply)

    def say(self, data: bytes) -> None:
        for at in range(0, len(data), self._chunk):
            self._give(data[at : at + self._chunk])

    def _give(self, chunk: bytes) -> None:
        asyncio.get_running_loop().call_soon(lambda: self._take is not None and self._take(chunk))

    def listen(self, take: Callable[[bytes], None]) -> None:
        self._take = take

    def ignore(self) -> None:
        self._take = None

    async def death(self, during: str) -> HarnessDied:
        return HarnessDied(f"scripted death during {during}")

    async def hang(self, during: str, seconds: float) -> HarnessHung:
        return HarnessHung(f"scripted hang in {during} after {seconds} s")


def _line(**message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _echo(message: dict[str, Any]) -> bytes:
    return _line(id=message["id"], result=message.get("params"))


def _silent(_message: dict[str, Any]) -> bytes:
    return b""


@contextlib.asynccontextmanager
async def _program(directory: Path, *argv: str, **options: Any) -> AsyncIterator[Peer]:
    """A peer of a real program, with nothing left at the end."""
    process = await Supervised.start(
        [sys.executable, "-I", str(PROGRAMS / argv[0]), *argv[1:]],
        directory=directory,
        environment=build(directory),
        stop_within=1.0,
    )
    peer = Peer(process, **options)
    try:
        yield peer
    finally:
        await process.stop()
        await peer.close()
    assert process.leftovers() == ()


# --- Asking and answering ------------------------------------------------------------------------------------------


def test_a_real_program_answers_asks_back_and_tells(tmp_path: Path) -> None:
    """Requests, error answers, requests of theirs and notifications all work over real pipes, at the same time."""
    told: list[Any] = []

    async def answer(method: str, params: Any) -> Any:
        return {"method": method, "params": params}

    async def scene() -> None:
        options = {"on_request": answer, "on_notification": lambda method, params: told.append((method, params))}
        async with _program(tmp_path, "echo_peer.py", **options) as peer:
            many = await asyncio.gather(*(peer.request("echo", {"n": n}, PATIENT) for n in range(50)))
            assert many == [{"n": n} for n in range(50)]
            asked = await peer.request("ask", ["why"], PATIENT)
            assert asked["result"] == {"method": "question", "params": ["why"]}
            assert await peer.request("notify", {"x": "ü\n\u2028"}, PATIENT) is None
            with pytest.raises(RpcError, match=r"busy \(-32000\)") as caught:
                await peer.request("refuse", {}, PATIENT)
            assert caught.value.data == {"by": "test"}
            assert peer.oddities == []

    asyncio.run(scene())
    assert told == [("told", {"x": "ü\n\u2028"})]


def test_an_unknown_request_of_theirs_is_answered_with_method_not_found() -> None:
    """Without a handler the answer is -32601; a handler's own RpcError goes out as it is."""

    async def refuse(_method: str, _params: Any) -> Any:
        raise RpcError(7, "not now", {"why": "test"})

    async def answer_to(**options: Any) -> Any:
        process = Scripted(lambda m: _line(id="a", method="fs/read", params={}) if "method" in m else _echo({"id": 1}))
        peer = Peer(process, **options)
        await peer.request("go", {}, PATIENT)
        await peer.close()
        return process.sent[1]

    assert asyncio.run(answer_to())["error"]["code"] == METHOD_NOT_FOUND
    error = {"code": 7, "message": "not now", "data": {"why": "test"}}
    assert asyncio.run(answer_to(on_request=refuse)) == {"jsonrpc": "2.0", "id": "a", "error": error}


@pytest.mark.parametrize("member", [True, False])
def test_the_jsonrpc_member_and_the_wire_log(member: bool) -> None:
    """`jsonrpc` is sent only where asked for, never demanded; the log holds each message of either way in order."""
    log: list[Any] = []

    async def scene() -> None:
        peer = Peer(Scripted(_echo), jsonrpc_member=member, wire_log=lambda way, message: log.append((way, message)))
        await peer.request("m", {"a": 1}, PATIENT)
        await peer.close()

    asyncio.run(scene())
    sent = {"jsonrpc": "2.0"} if member else {}
    assert log == [
        ("out", {**sent, "id": 1, "method": "m", "params": {"a": 1}}),
        ("in", {"id": 1, "result": {"a": 1}}),
    ]


@given(texts=st.lists(st.text(), min_size=1, max_size=4), chunk=st.integers(1, 40))
def test_chunk_boundaries_change_nothing(texts: list[str], chunk: int) -> None:
    """However the output is cut into pieces, also within a character, the same messages arrive in the same order."""
    told: list[Any] = []

    async def scene() -> None:
        lines = b"".join(
            json.dumps({"method": "t", "params": t}, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\r\n"
            for t in texts
        )
        process = Scripted(lambda m: lines + _echo(m), chunk)
        peer = Peer(process, on_notification=lambda _method, params: told.append(params))
        assert await peer.request("m", texts, PATIENT) == texts
        await peer.close()

    if any("\ud800" <= c <= "\udfff" for t in texts for c in t):
        return
    asyncio.run(scene())
    assert told == texts


# --- How it ends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behaviour", "error", "words"),
    [
        (["half_line"], HarnessDied, "exit code 3.*out of memory.*middle of a line.*res"),
        (["crash", "9"], HarnessDied, "ended by SIGKILL"),
        (["close_stdout"], HarnessDied, "closed its standard output, though it still runs"),
        (["garbage"], Garbage, "not JSON.*Welcome to harness"),
        (["endless_line", "40"], Garbage, "more than 16777216 bytes that begins 'xxx"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_an_ill_behaved_program_fails_every_request(
    tmp_path: Path, behaviour: list[str], error: type[Exception], words: str
) -> None:
    """All that wait get the same error, which tells what happened, and so does whoever asks later."""

    async def scene() -> None:
        async with _program(tmp_path, "nasty.py", *behaviour) as peer:
            asked = [peer.request(m, {}, PATIENT) for m in ("first", "second")]
            for outcome in await asyncio.gather(*asked, return_exceptions=True):
                assert type(outcome) is error
                assert re.search(f"(?s){words}", str(outcome))
            with pytest.raises(error, match=f"(?s){words}"):
                await peer.request("third", {}, PATIENT)

    asyncio.run(scene())


def test_a_program_that_hangs_at_start_is_ended_and_said_to_hang(tmp_path: Path) -> None:
    """HarnessHung names the method and the deadline; others that wait learn it too, and the process is gone by then."""

    async def scene() -> None:
        async with _program(tmp_path, "nasty.py", "hang") as peer:
            other = asyncio.ensure_future(peer.request("turn", {}, PATIENT))
            with pytest.raises(HarnessHung, match=r"did not answer initialize within 0\.3 s: process \d+ is"):
                await peer.request("initialize", {}, 0.3)
            with pytest.raises(HarnessHung, match="initialize"):
                await other

    asyncio.run(scene())


def test_an_answer_before_the_exit_counts(tmp_path: Path) -> None:
    """What was written before the process ended is read, whatever is seen first."""

    async def scene() -> None:
        async with _program(tmp_path, "nasty.py", "answer_and_exit") as peer:
            assert await peer.request("last", {}, PATIENT) == "done"
            with pytest.raises(HarnessDied, match="exit code 0"):
                await peer.attend(asyncio.Event().wait(), PATIENT, "turn/completed")

    asyncio.run(scene())


@pytest.mark.parametrize(
    "line",
    [
        b"[1]\n", b"1\n", b"{}\n", b'{"id": 1}\n', b'{"method": 1}\n', b"\xff{}\n", b"{\n", b"[" * 100_000 + b"\n",
        b'{"method": "m", "id": [1]}\n',
    ],
    ids=range(9),
)  # fmt: skip
def test_what_is_no_message_is_garbage(line: bytes) -> None:
    """Anything but a request, a notification or an answer ends the talk with an error that shows how it begins."""

    async def scene() -> None:
        peer = Peer(Scripted(lambda _message: line))
        with pytest.raises(Garbage) as caught:
            await peer.request("m", {}, PATIENT)
        assert len(caught.value.cause) < 1200
        await peer.close()

    asyncio.run(scene())


def test_an_answer_to_nothing_is_kept_and_harmless() -> None:
    """An unknown id, a string for a number, a second answer, an empty line are oddities; the right answer counts."""
    strange = _line(id=99, result={}) + _line(id="1", result={}) + b"\n" + _line(id=None, error={"code": 1})

    async def scene() -> None:
        peer = Peer(Scripted(lambda m: strange + _echo(m) + _echo(m)))
        assert await peer.request("m", {"a": 1}, PATIENT) == {"a": 1}
        assert await peer.request("m", {"b": 1}, PATIENT) == {"b": 1}
        assert len(peer.oddities) == 10
        assert "99" in peer.oddities[0]
        await peer.close()

    asyncio.run(scene())


def test_oddities_and_nothing_else_are_garbage() -> None:
    """A harness that answers only what nobody asked did not hang: the error shows what it sent."""

    async def scene() -> None:
        peer = Peer(Scripted(lambda _message: _line(id="1", result={})))
        with pytest.raises(Garbage, match="an answer to '1'"):
            await peer.request("m", {}, 0.1)
        with pytest.raises(Garbage, match="an answer to '1'"):
            peer.notify("n")
        await peer.close()

    asyncio.run(scene())


def test_silence_after_an_oddity_is_silence() -> None:
    """What belonged to nothing earlier, a second answer say, does not turn a later hang into garbage."""

    async def scene() -> None:
        peer = Peer(Scripted(lambda m: _echo(m) + _echo(m) if m["method"] == "m" else b""))
        assert await peer.request("m", {"a": 1}, PATIENT) == {"a": 1}
        with pytest.raises(HarnessHung, match="silent"):
            await peer.request("silent", {}, 0.1)
        assert len(peer.oddities) == 1
        await peer.close()

    asyncio.run(scene())


def test_attend_waits_for_what_the_adapter_waits_for() -> None:
    """An adapter's own wait, e.g. for a notification, ends by its value, its error, the harness's or the deadline."""

    async def value() -> int:
        return 7

    async def failing() -> int:
        raise LookupError("mine")

    async def scene() -> None:
        peer = Peer(process := Scripted(_silent))
        assert await peer.attend(value(), PATIENT, "turn") == 7
        with pytest.raises(LookupError, match="mine"):
            await peer.attend(failing(), PATIENT, "turn")
        waiting = asyncio.ensure_future(peer.attend(asyncio.Event().wait(), PATIENT, "turn/completed"))
        await asyncio.sleep(0)
        process.say(b"oops\n")
        with pytest.raises(Garbage, match="oops"):
            await waiting
        await peer.close()
        late = Peer(Scripted(_silent))
        with pytest.raises(HarnessHung, match="turn/completed"):
            await late.attend(asyncio.Event().wait(), 0.05, "turn/completed")
        await late.close()

    asyncio.run(scene())


def test_a_fault_of_a_handler_of_ours_is_not_swallowed() -> None:
    """An exception in a callback reaches whoever waits, as it is: it is not the harness's fault."""

    async def broken(_method: str, _params: Any) -> Any:
        raise ZeroDivisionError

    def broken_too(_method: str, _params: Any) -> None:
        raise ZeroDivisionError

    async def scene(message: bytes) -> None:
        peer = Peer(Scripted(lambda _message: message), on_request=broken, on_notification=broken_too)
        with pytest.raises(ZeroDivisionError):
            await peer.request("m", {}, PATIENT)
        await peer.close()

    asyncio.run(scene(_line(id=5, method="ask")))
    asyncio.run(scene(_line(method="tell")))


def test_after_close_nothing_is_asked() -> None:
    """A closed peer refuses at once, and whoever waited is told."""

    async def scene() -> None:
        peer = Peer(Scripted(_silent))
        waiting = asyncio.ensure_future(peer.request("m", {}, PATIENT))
        await asyncio.sleep(0)
        await peer.close()
        await peer.close()
        with pytest.raises(HarnessDied, match="closed"):
            await waiting
        with pytest.raises(HarnessDied, match="closed"):
            await peer.request("m", {}, PATIENT)

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("behaviour", "outcome"), [(["flood", "200"], "done"), (["endless_line", "200"], "Garbage")], ids=["lines", "line"]
)
def test_memory_stays_small_whatever_is_printed(tmp_path: Path, behaviour: list[str], outcome: str) -> None:
    """Hundreds of megabytes of output leave forkproof itself below 150 MB (issue 2, "Speed and memory")."""
    program = (
        "import asyncio, sys; from pathlib import Path\n"
        "from forkproof.adapters.supervisor import Supervised; from forkproof.adapters.jsonrpc import Peer\n"
        "async def main():\n"
        "    p = await Supervised.start(sys.argv[1:], directory=Path(), environment={}, stop_within=1)\n"
        "    try: print(await Peer(p).request('m', {}, 100))\n"
        "    except Exception as error: print(type(error).__name__)\n"
        "    await p.stop()\n"
        "    print(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')))\n"
        "asyncio.run(main())"
    )
    argv = [sys.executable, "-c", program, sys.executable, str(PROGRAMS / "nasty.py"), *behaviour]
    run = subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True, timeout=110, text=True)
    said, kilobytes = run.stdout.split()
    assert said == outcome
    assert int(kilobytes) < 150 * 1024
