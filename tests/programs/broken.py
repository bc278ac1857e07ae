"""A small harness that works, but for one fault at one phase. Standard library only.

`broken.py ROUTE FAULT PHASE NOTES`. ROUTE is a protocol: `acp` or `codex` (an app-server). PHASE is one of start, open,
prompt, fork, compact, cancel, stop: the first request of that phase meets the FAULT, a method of `Fault`; with
`second-` before it, the first one after two sessions were opened. NOTES is a file that gets a line `begun PID` at the
start, `fault MONOTONIC-SECONDS` when the fault begins, and `child PID` for every process that is left.

It reaches its model over HTTP like a real one, keeps its sessions in memory, and forks, compacts and cancels in order.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar, NoReturn
from urllib.parse import urlsplit

Json = dict[str, Any]
LOCK = threading.Lock()
MEGABYTE = 1024 * 1024


def write(data: bytes) -> None:
    """All of it to standard output, at once; a closed one is no error here."""
    while data:
        data = data[os.write(1, data) :]


def sleep_for_ever() -> NoReturn:
    """Until a signal ends it."""
    while True:
        signal.pause()


# --- The fault -----------------------------------------------------------------------------------------------------


class Fault:
    """One fault, which happens once. A method gives True if the request is still to be answered in order."""

    def __init__(self, name: str, phase: str, notes: Path) -> None:
        self.phase = phase
        self.notes = notes
        self.happens = getattr(self, name.replace("-", "_"))
        self.over = False
        self.doubled: Any = None

    def at(self, phase: str, number: Any = None) -> bool:
        """Let the fault happen if this is its phase."""
        if phase != self.phase or self.over:
            return True
        self.over = True
        self.note(f"fault {time.monotonic()}")
        return bool(self.happens(number))

    def note(self, line: str) -> None:
        with self.notes.open("a") as notes:
            notes.write(line + "\n")

    def none(self, _number: Any) -> bool:
        return True

    def tell(self, _number: Any) -> bool:
        """Note the environment."""
        self.note(f"environment {json.dumps(dict(os.environ))}")
        return True

    def burn(self, _number: Any) -> bool:
        """Three seconds of CPU, then the answer."""
        until = time.process_time() + 3.0
        while time.process_time() < until:
            pass
        return True

    def hang(self, _number: Any) -> bool:
        sleep_for_ever()

    def deaf(self, _number: Any) -> bool:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        sleep_for_ever()

    def exit_0(self, _number: Any) -> bool:
        os._exit(0)

    def exit_7(self, _number: Any) -> bool:
        os.write(2, b"fatal: my database is gone\n")
        os._exit(7)

    def killed(self, _number: Any) -> bool:
        os.kill(os.getpid(), signal.SIGKILL)
        sleep_for_ever()

    def garbage(self, _number: Any) -> bool:
        write(b"Segmentation fault, core dumped\n")
        return True

    def half_line_exit(self, number: Any) -> bool:
        write(f'{{"id": {json.dumps(number)}, "res'.encode())
        os._exit(3)

    def half_line_hang(self, number: Any) -> bool:
        write(f'{{"id": {json.dumps(number)}, "res'.encode())
        sleep_for_ever()

    def huge_line(self, _number: Any) -> bool:
        write(b"x" * (17 * MEGABYTE))
        sleep_for_ever()

    def flood(self, _number: Any) -> bool:
        line = json.dumps({"jsonrpc": "2.0", "method": "noise", "params": {"text": "x" * 1000}}).encode() + b"\n"
        while True:
            write(line)

    def loud(self, _number: Any) -> bool:
        for _ in range(8):
            os.write(2, (b"x" * 1023 + b"\n") * 1024)
        os.write(2, b"the last words\n")
        return True

    def mute(self, _number: Any) -> bool:
        os.close(1)
        sleep_for_ever()

    def wrong_id(self, _number: Any) -> bool:
        write(b'{"jsonrpc": "2.0", "id": 4711, "result": {}}\n')
        return False

    def twice(self, number: Any) -> bool:
        self.doubled = number
        return True

    def stall(self, _number: Any) -> bool:
        """Ask the model for a stream and never read it."""
        model = MODEL.request([("user", "stall")], stream=True)
        self.note(f"stalled {model}")
        sleep_for_ever()

    def family_hang(self, _number: Any) -> bool:
        self.family()
        sleep_for_ever()

    def family_exit(self, _number: Any) -> bool:
        self.family()
        os._exit(0)

    def family(self) -> None:
        """A child, one in a session of its own that is deaf to TERM, and one that cut every tie but its pipes."""
        deaf = "trap '' TERM HUP INT; while :; do /bin/sleep 1000; done"
        for words, apart in ((["/bin/sleep", "1000"], False), (["/bin/sh", "-c", deaf], True)):
            child = subprocess.Popen(words, start_new_session=apart)
            self.note(f"child {child.pid}")
        read, out = os.pipe()
        os.set_inheritable(out, True)  # noqa: FBT003  # the standard library's signature
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(out, str(os.getpid()).encode())
                os.execve("/bin/sleep", ["sleep", "1000"], {})  # noqa: S606  # an environment without the tag
            os._exit(0)
        self.note(f"child {os.read(read, 32).decode()}")


# --- The model -----------------------------------------------------------------------------------------------------


class Model:
    """The model over HTTP, in the one of two formats that the route speaks."""

    def __init__(self, wire: str, url: str, key: str) -> None:
        self.wire = wire
        self.server = urlsplit(url).netloc
        self.key = key

    def request(self, messages: list[tuple[str, str]], *, stream: bool = False) -> http.client.HTTPConnection:
        """A request that was sent; its answer is not read yet."""
        if self.wire == "chat":
            told = [{"role": role, "content": text} for role, text in messages]
            path, body = "/v1/chat/completions", {"model": "m", "messages": told, "stream": stream}
        else:
            kinds = {"user": "input_text", "assistant": "output_text"}
            said = [{"type": "message", "role": r, "content": [{"type": kinds[r], "text": t}]} for r, t in messages]
            path, body = "/v1/responses", {"model": "m", "input": said, "stream": stream}
        connection = http.client.HTTPConnection(self.server)
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        return connection

    def text(self, connection: http.client.HTTPConnection) -> str:
        """What the model says."""
        said = json.loads(connection.getresponse().read())
        if self.wire == "chat":
            return str(said["choices"][0]["message"]["content"])
        return "".join(part["text"] for item in said["output"] for part in item.get("content", ()))


# --- Sessions ------------------------------------------------------------------------------------------------------


class Sessions:
    """Conversations in memory; a turn runs in a thread, so that it can be cancelled."""

    def __init__(self) -> None:
        self.all: dict[str, Json] = {}
        self.open: dict[str, http.client.HTTPConnection] = {}
        self.cancelled: set[str] = set()

    def new(self, cwd: str, messages: list[tuple[str, str]], turns: list[Json]) -> str:
        name = f"0197c0de-0000-7000-8000-{len(self.all) + 1:012}"
        self.all[name] = {"cwd": cwd, "messages": list(messages), "turns": list(turns)}
        return name

    def turn(self, name: str, text: str) -> tuple[str, str]:
        """Run a turn to its end: how it ended, and what the model said."""
        messages = self.all[name]["messages"]
        messages.append(("user", text))
        self.open[name] = connection = MODEL.request(messages)
        try:
            said = MODEL.text(connection)
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            return ("cancelled" if name in self.cancelled else "failed"), ""
        finally:
            del self.open[name]
            self.cancelled.discard(name)
        messages.append(("assistant", said))
        return "end_turn", said

    def cancel(self, name: str) -> bool:
        connection = self.open.get(name)
        if connection is None or connection.sock is None:
            return False
        self.cancelled.add(name)
        connection.sock.shutdown(socket.SHUT_RDWR)
        return True

    def compact(self, name: str) -> None:
        session = self.all[name]
        summary = MODEL.text(MODEL.request([*session["messages"], ("user", "Summarize.")]))
        session["messages"] = [("user", summary)]


# --- The two routes ------------------------------------------------------------------------------------------------


class Route:
    """What both have in common: a line in, lines out."""

    phases: ClassVar[dict[str, str]]

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.sessions = Sessions()
        self.opened = 0

    def send(self, **message: Any) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        often = 2 if "id" in message and message["id"] == self.fault.doubled else 1
        with LOCK:
            write(line * often)

    def hear(self, message: Json) -> None:
        method, number, params = message.get("method", ""), message.get("id"), message.get("params") or {}
        phase = self.phase(method, params)
        self.opened += phase == "open"
        second = f"second-{phase}" if self.opened > 1 else ""
        if not (self.fault.at(phase, number) and self.fault.at(second, number)):
            return
        answer = getattr(self, "do_" + method.replace("/", "_"), None)
        if answer is not None:
            try:
                answer(number, params)
            except KeyError as error:
                message = f"no rollout found for thread id {error.args[0]}"
                self.send(id=number, error={"code": -32600, "message": message})
        elif number is not None:
            self.send(id=number, error={"code": -32601, "message": f"unknown variant `{method}`"})

    def phase(self, method: str, _params: Json) -> str:
        return self.phases.get(method, "")

    def in_a_thread(self, work: Any, *arguments: Any) -> None:
        threading.Thread(target=work, args=arguments, daemon=True).start()


class Acp(Route):
    """An agent that speaks the Agent Client Protocol; `/compact` compacts."""

    phases: ClassVar = {
        "initialize": "start",
        "session/new": "open",
        "session/prompt": "prompt",
        "session/fork": "fork",
        "session/cancel": "cancel",
    }

    def phase(self, method: str, params: Json) -> str:
        return (
            "compact" if method == "session/prompt" and _text(params) == "/compact" else super().phase(method, params)
        )

    def do_initialize(self, number: Any, params: Json) -> None:
        info = {"name": "broken", "version": "1.0"}
        self.send(id=number, result={"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info})

    def do_session_new(self, number: Any, params: Json) -> None:
        self.send(id=number, result={"sessionId": self.sessions.new(params["cwd"], [], [])})

    def do_session_fork(self, number: Any, params: Json) -> None:
        source = self.sessions.all[params["sessionId"]]
        self.send(id=number, result={"sessionId": self.sessions.new(params["cwd"], source["messages"], [])})

    def do_session_prompt(self, number: Any, params: Json) -> None:
        self.in_a_thread(self.prompt, number, params["sessionId"], _text(params))

    def do_session_cancel(self, _number: Any, params: Json) -> None:
        self.sessions.cancel(params["sessionId"])

    def prompt(self, number: Any, name: str, text: str) -> None:
        if text == "/compact":
            self.sessions.compact(name)
            self.send(id=number, result={"stopReason": "end_turn"})
            return
        stop, said = self.sessions.turn(name, text)
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": said}}
        self.send(method="session/update", params={"sessionId": name, "update": update})
        self.send(id=number, result={"stopReason": stop})


def _text(params: Json) -> str:
    return "".join(part["text"] for part in params["prompt"])


class Codex(Route):
    """An app-server as Codex has one, as far as the adapter asks."""

    phases: ClassVar = {
        "initialize": "start",
        "thread/start": "open",
        "turn/start": "prompt",
        "thread/fork": "fork",
        "thread/compact/start": "compact",
        "turn/interrupt": "cancel",
    }

    def do_initialize(self, number: Any, _params: Json) -> None:
        self.send(id=number, result={"userAgent": "broken/1.0"})

    def do_thread_start(self, number: Any, params: Json) -> None:
        self.send(id=number, result=self.state(self.sessions.new(params["cwd"], [], [])))

    def do_thread_fork(self, number: Any, params: Json) -> None:
        source = self.sessions.all[params["threadId"]]
        name = self.sessions.new(params.get("cwd") or source["cwd"], source["messages"], source["turns"])
        self.send(id=number, result=self.state(name, params["threadId"]))

    def do_thread_turns_list(self, number: Any, params: Json) -> None:
        self.send(id=number, result={"data": self.sessions.all[params["threadId"]]["turns"], "nextCursor": None})

    def do_turn_start(self, number: Any, params: Json) -> None:
        name, said = params["threadId"], params["input"]
        turn = self.begin(name, [{"type": "userMessage", "id": "u", "content": said}])
        self.send(id=number, result={"turn": turn})
        self.tell("turn/started", name, turn)
        self.in_a_thread(self.run, name, turn, said[0]["text"])

    def do_turn_interrupt(self, number: Any, params: Json) -> None:
        if self.sessions.cancel(params["threadId"]):
            self.send(id=number, result={})
        else:
            self.send(id=number, error={"code": -32600, "message": "no active turn to interrupt"})

    def do_thread_compact_start(self, number: Any, params: Json) -> None:
        turn = self.begin(params["threadId"], [{"type": "contextCompaction", "id": "c"}])
        self.send(id=number, result={})
        self.tell("turn/started", params["threadId"], turn)
        self.in_a_thread(self.compact, params["threadId"], turn)

    def state(self, name: str, source: str | None = None) -> Json:
        return {
            "thread": {"id": name, "forkedFromId": source, "parentThreadId": None},
            "cwd": self.sessions.all[name]["cwd"],
            "model": "fake-model",
            "reasoningEffort": None,
            "approvalPolicy": "never",
            "sandbox": {"type": "dangerFullAccess"},
        }

    def begin(self, name: str, items: list[Json]) -> Json:
        turns = self.sessions.all[name]["turns"]
        turn = {"id": f"{name}-{len(turns)}", "items": items, "status": "inProgress", "error": None}
        turns.append(turn)
        return turn

    def tell(self, method: str, name: str, turn: Json) -> None:
        self.send(method=method, params={"threadId": name, "turn": turn})

    def end(self, name: str, turn: Json, status: str) -> None:
        turn["status"] = status
        self.tell("turn/completed", name, turn)

    def run(self, name: str, turn: Json, text: str) -> None:
        stop, _ = self.sessions.turn(name, text)
        self.end(name, turn, {"end_turn": "completed", "cancelled": "interrupted"}.get(stop, "failed"))

    def compact(self, name: str, turn: Json) -> None:
        self.sessions.compact(name)
        self.end(name, turn, "completed")


def _model(route: str) -> Model:
    if route == "acp":
        return Model("chat", os.environ["MODEL_URL"], os.environ["MODEL_KEY"])
    told = (Path(os.environ["CODEX_HOME"]) / "config.toml").read_text()
    url, key = (re.search(rf'^{name} = "([^"]+)"', told, re.MULTILINE)[1] for name in ("base_url", "env_key"))  # type: ignore[index]  # a test program
    return Model("responses", url, os.environ[key])


def main() -> None:
    """Serve standard input until it ends."""
    fault = Fault(sys.argv[2], sys.argv[3], Path(sys.argv[4]))
    fault.note(f"begun {os.getpid()}")
    route = {"acp": Acp, "codex": Codex}[sys.argv[1]](fault)
    for line in sys.stdin:
        route.hear(json.loads(line))
    fault.at("stop")


MODEL = _model(sys.argv[1])

if __name__ == "__main__":
    main()
