"""What every route stands on: a model over HTTP, and conversations in memory."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]


class Model:
    """The model over HTTP, in the one of two formats that the route speaks."""

    def __init__(self, wire: str, url: str, key: str) -> None:
        self.wire = wire
        self.server = urlsplit(url).netloc
        self.key = key

    def connect(self) -> http.client.HTTPConnection:
        """A connection on which nothing was asked yet."""
        connection = http.client.HTTPConnection(self.server)
        connection.connect()
        return connection

    def request(
        self, connection: http.client.HTTPConnection, messages: list[tuple[str, str]], *, stream: bool = False
    ) -> http.client.HTTPConnection:
        """Send a request; its answer is not read yet."""
        if self.wire == "chat":
            told = [{"role": role, "content": text} for role, text in messages]
            path, body = "/v1/chat/completions", {"model": "m", "messages": told, "stream": stream}
        else:
            kinds = {"user": "input_text", "assistant": "output_text"}
            said = [{"type": "message", "role": r, "content": [{"type": kinds[r], "text": t}]} for r, t in messages]
            path, body = "/v1/responses", {"model": "m", "input": said, "stream": stream}
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        return connection

    def text(self, connection: http.client.HTTPConnection) -> str:
        """What the model says."""
        said = json.loads(connection.getresponse().read())
        if self.wire == "chat":
            return str(said["choices"][0]["message"]["content"])
        return "".join(part["text"] for item in said["output"] for part in item.get("content", ()))


class Sessions:
    """Conversations in memory; a turn runs in a thread, so that it can be cancelled."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.all: dict[str, Json] = {}
        self.open: dict[str, socket.socket] = {}
        self.cancelled: set[str] = set()

    def new(self, cwd: str, messages: list[tuple[str, str]], turns: list[Json]) -> str:
        name = f"0197c0de-0000-7000-8000-{len(self.all) + 1:012}"
        self.all[name] = {"cwd": cwd, "messages": list(messages), "turns": list(turns)}
        return name

    def turn(self, name: str, text: str) -> tuple[str, str]:
        """Run a turn to its end: how it ended, and what the model said."""
        messages = self.all[name]["messages"]
        messages.append(("user", text))
        connection = self.model.connect()
        # Before the request is sent: the model may be told to hold its answer, and the turn be cancelled, at any time
        # from then on.
        self.open[name] = connection.sock
        try:
            said = self.model.text(self.model.request(connection, messages))
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            return ("cancelled" if name in self.cancelled else "failed"), ""
        finally:
            del self.open[name]
            self.cancelled.discard(name)
        messages.append(("assistant", said))
        return "end_turn", said

    def cancel(self, name: str) -> bool:
        line = self.open.get(name)
        if line is None:
            return False
        self.cancelled.add(name)
        line.shutdown(socket.SHUT_RDWR)
        return True

    def compact(self, name: str) -> None:
        session = self.all[name]
        asked = [*session["messages"], ("user", "Summarize.")]
        summary = self.model.text(self.model.request(self.model.connect(), asked))
        session["messages"] = [("user", summary)]
