"""pi's RPC is understood line by line; what breaks it ends the talk with the error of that phase."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from forkproof.adapters.errors import Garbage, HarnessDied, HarnessHung
from forkproof.adapters.pi import peer as module
from forkproof.adapters.pi.peer import Peer, Rejected

SOON = 10.0


class Pipe:
    """A process whose output the test writes; it keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.hung: list[str] = []
        self._take: Callable[[bytes], None] | None = None
        self.asked = asyncio.Event()

    def send(self, data: bytes) -> None:
        assert data.endswith(b"\n")
        self.sent.append(json.loads(data))
        self.asked.set()

    async def was_asked(self, often: int) -> None:
        while len(self.sent) < often:
            await self.asked.wait()
            self.asked.clear()

    def listen(self, take: Callable[[bytes], None]) -> None:
        self._take = take

    def ignore(self) -> None:
        self._take = None

    async def death(self, during: str) -> HarnessDied:
        return HarnessDied(f"it is gone (during {during})")

    async def hang(self, during: str, seconds: float) -> HarnessHung:
        self.hung.append(during)
        return HarnessHung(f"no {during} within {seconds:g} s")

    def say(self, *messages: Any) -> None:
        for message in messages:
            self.raw(json.dumps(message).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        asyncio.get_running_loop().call_soon(lambda: self._take is not None and self._take(data))


def play(story: Callable[[Pipe, Peer, list[Any]], Awaitable[None]]) -> None:
    async def run() -> None:
        pipe, events = Pipe(), list[Any]()
        peer = Peer(pipe, events.append)
        try:
            async with asyncio.timeout(60):
                await story(pipe, peer, events)
        finally:
            await peer.close()

    asyncio.run(run())


def answer(number: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "type": "response", "command": kind, "success": True, **more}


def test_answers_find_who_asked_whatever_their_order() -> None:
    async def story(pipe: Pipe, peer: Peer, _events: list[Any]) -> None:
        first = asyncio.create_task(peer.request("get_state", SOON))
        second = asyncio.create_task(peer.request("fork", SOON, entryId="a1"))
        await pipe.was_asked(2)
        assert pipe.sent == [{"id": "1", "type": "get_state"}, {"id": "2", "type": "fork", "entryId": "a1"}]
        pipe.say(answer("2", "fork", data={"text": "x"}), answer("1", "get_state"))
        assert await second == {"text": "x"}
        assert await first is None

    play(story)


def test_a_failure_bears_the_words_of_pi() -> None:
    async def story(pipe: Pipe, peer: Peer, _events: list[Any]) -> None:
        pipe.say({"id": "1", "type": "response", "command": "fork", "success": False, "error": "Invalid entry ID"})
        with pytest.raises(Rejected, match="Invalid entry ID"):
            await peer.request("fork", SOON, entryId="a1")

    play(story)


def test_an_error_without_an_id_goes_to_the_one_that_asked_for_that() -> None:
    """Release 0.73 answers an unknown command without its id: an adapter that goes by the id alone waits for ever."""

    async def story(pipe: Pipe, peer: Peer, _events: list[Any]) -> None:
        other = asyncio.create_task(peer.request("get_state", SOON))
        asked = asyncio.create_task(peer.request("get_tree", SOON))
        await pipe.was_asked(2)
        pipe.say({"type": "response", "command": "get_tree", "success": False, "error": "Unknown command: get_tree"})
        with pytest.raises(Rejected, match="Unknown command"):
            await asked
        assert not other.done()
        pipe.say(answer("1", "get_state"))
        await other

    play(story)


def test_events_come_in_order_and_lines_in_pieces() -> None:
    async def story(pipe: Pipe, peer: Peer, events: list[Any]) -> None:
        pipe.raw(b'{"type":"agent_start"}\n{"type":"agent_')
        pipe.raw('end","x":"é"}\n'.encode())
        pipe.say(answer("1", "abort"))
        await peer.request("abort", SOON)
        assert events == [{"type": "agent_start"}, {"type": "agent_end", "x": "é"}]

    play(story)


def test_an_answer_that_nobody_waits_for_is_kept_as_an_oddity() -> None:
    async def story(pipe: Pipe, peer: Peer, _events: list[Any]) -> None:
        pipe.raw(b"\n")
        pipe.say(answer("99", "abort"), answer("1", "abort"))
        await peer.request("abort", SOON)
        assert peer.oddities[0] == "an empty line"
        assert "99" in peer.oddities[1]

    play(story)


@pytest.mark.parametrize("line", [b"hello\n", b"[1]\n", b"{}\n", b'{"type":"response","id":"1"}\n', b'{"type":3}\n'])
def test_garbage_ends_the_talk_for_all_who_wait(line: bytes) -> None:
    async def story(pipe: Pipe, peer: Peer, _events: list[Any]) -> None:
        waiting = [asyncio.create_task(peer.request("get_state", SOON)) for _ in range(2)]
        pipe.raw(line)
        for each in waiting:
            with pytest.raises(Garbage):
                await each
        with pytest.raises(Garbage):
            await peer.request("get_state", SOON)

    play(story)


def test_a_line_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE", 1000)

    async def story(pipe: Pipe, peer: Peer, _events: list[Any]) -> None:
        pipe.raw(b"x" * 600)
        pipe.raw(b"x" * 600)
        with pytest.raises(Garbage, match="more than 1000 bytes"):
            await peer.request("get_state", SOON)

    play(story)


def test_a_death_tells_of_the_half_line() -> None:
    async def story(pipe: Pipe, peer: Peer, _events: list[Any]) -> None:
        pipe.raw(b'{"type":"agent_st')
        pipe.raw(b"")
        with pytest.raises(HarnessDied, match=r"it is gone[\s\S]*middle of a line.*agent_st"):
            await peer.request("get_state", SOON)
        assert peer.over

    play(story)


def test_silence_is_a_hang() -> None:
    async def story(pipe: Pipe, peer: Peer, _events: list[Any]) -> None:
        with pytest.raises(HarnessHung, match=r"no compact within 0\.01 s"):
            await peer.request("compact", 0.01)
        assert pipe.hung == ["compact"]

    play(story)


@pytest.mark.parametrize(("more", "error"), [((), Garbage), (({"type": "agent_start"},), HarnessHung)])
def test_answers_to_nothing_are_garbage_unless_it_says_more(
    more: tuple[dict[str, str], ...], error: type[Exception]
) -> None:
    """A pi that talks past us did not hang; one whose events are understood did, whatever it said beside."""

    async def story(pipe: Pipe, peer: Peer, _events: list[Any]) -> None:
        waiting = asyncio.create_task(peer.request("get_state", 0.2))
        await pipe.was_asked(1)
        pipe.say(answer("99", "get_state"), *more)
        with pytest.raises(error):
            await waiting
        assert "an answer to '99', which waits for none" in peer.oddities[0]

    play(story)


def test_a_fault_of_ours_reaches_who_waits() -> None:
    async def run() -> None:
        def break_down(_event: object) -> None:
            raise ZeroDivisionError

        pipe = Pipe()
        peer = Peer(pipe, break_down)
        pipe.say({"type": "agent_start"})
        with pytest.raises(ZeroDivisionError):
            await peer.request("get_state", SOON)
        await peer.close()

    asyncio.run(run())
