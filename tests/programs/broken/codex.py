"""Codex's app-server."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, ClassVar

from route import Route
from sessions import Json, Model


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

    def model(self) -> Model:
        told = (Path(os.environ["CODEX_HOME"]) / "config.toml").read_text()
        url, key = (re.search(rf'^{name} = "([^"]+)"', told, re.MULTILINE)[1] for name in ("base_url", "env_key"))  # type: ignore[index]  # a test program
        return Model("responses", url, os.environ[key])

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
