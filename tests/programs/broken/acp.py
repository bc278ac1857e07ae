"""The Agent Client Protocol."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from route import Route
from sessions import Json, Model


class Acp(Route):
    """An agent that speaks the Agent Client Protocol; `/compact` compacts."""

    phases: ClassVar = {
        "initialize": "start",
        "session/new": "open",
        "session/prompt": "prompt",
        "session/fork": "fork",
        "session/cancel": "cancel",
    }

    def model(self) -> Model:
        return Model("chat", os.environ["MODEL_URL"], os.environ["MODEL_KEY"])

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
