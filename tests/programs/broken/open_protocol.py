"""forkproof's own adapter protocol (docs/adapters.md): adapter and harness in one program."""

from __future__ import annotations

from typing import Any, ClassVar

from route import Route
from sessions import Json, Model


class OpenProtocol(Route):
    """An adapter; its model is told with `start`."""

    phases: ClassVar = {
        "start": "start",
        "session/open": "open",
        "session/prompt": "prompt",
        "session/fork": "fork",
        "session/compact": "compact",
        "session/cancel": "cancel",
        "stop": "stop",
    }

    def model(self) -> Model:
        return Model("chat", "http://127.0.0.1:9", "none yet")

    def do_initialize(self, number: Any, _params: Json) -> None:
        self.send(id=number, result={"protocolVersion": 1})

    def do_describe(self, number: Any, _params: Json) -> None:
        self.fault.over = True  # this short process is no trial's
        can = ["cancel", "compact", "fork.head"]
        self.send(id=number, result={"harness": "broken", "version": "1", "wire": "chat", "capabilities": can})

    def do_start(self, number: Any, params: Json) -> None:
        self.reach(Model("chat", params["endpoint"]["url"], params["endpoint"]["key"]))
        self.send(id=number, result={})

    def do_stop(self, number: Any, _params: Json) -> None:
        self.send(id=number, result={})

    def do_session_open(self, number: Any, params: Json) -> None:
        self.send(id=number, result={"sessionId": self.sessions.new(params["cwd"], [], [])})

    def do_session_fork(self, number: Any, params: Json) -> None:
        source = self.sessions.all[params["sessionId"]]
        name = self.sessions.new(params["cwd"], source["messages"], [])
        self.send(id=number, result={"record": {"sessionId": {"value": name, "origin": "reported"}}})

    def do_session_prompt(self, number: Any, params: Json) -> None:
        self.in_a_thread(self.prompt, number, params["sessionId"], params["text"])

    def do_session_cancel(self, number: Any, params: Json) -> None:
        self.sessions.cancel(params["sessionId"])
        self.send(id=number, result={})

    def do_session_compact(self, number: Any, params: Json) -> None:
        self.in_a_thread(self.compact, number, params["sessionId"])

    def prompt(self, number: Any, name: str, text: str) -> None:
        stop, _ = self.sessions.turn(name, text)
        self.send(id=number, result={"stopReason": stop})

    def compact(self, number: Any, name: str) -> None:
        self.sessions.compact(name)
        self.send(id=number, result={})
