"""An agent of ours that speaks ACP, for a harness that takes another agent as its model (docs/goose.md).

It does what such agents do: it keeps sessions of its own on disk, each with the id under which its model's provider
keeps the conversation; it opens a stored session on `session/load`, copies one on `session/fork`, and runs its model's
commands in the directory that it was given. Its model is the suite's server, by the Responses API, so that the suite
sees whose conversation a request continues.

It runs by itself, in the harness's environment and with the standard library alone: `python scripted_agent.py`, with
the variables `FORKPROOF_AGENT_URL` and `FORKPROOF_AGENT_KEY`. It handles one request after the other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

__all__ = ["ScriptedAgent", "main"]

NO_METHOD, NO_SESSION, FAILED = -32601, -32002, -32603
SHELL = {
    "type": "function",
    "name": "shell",
    "description": "Run a command.",
    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}


class AgentError(Exception):
    """An error answer: its JSON-RPC code and its words."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


@dataclass
class Session:
    """One session of this agent. `response` is the provider's id of its last answer, empty before the first.

    `shown` are the messages by which a client is told of the conversation: role and text. `unsent` is what the model
    has not been told yet, because a request failed or the process was killed; it goes out with the next one.
    """

    id: str
    directory: str
    response: str
    shown: list[tuple[str, str]]
    unsent: list[dict[str, Any]]


class ScriptedAgent:
    """The agent on one pair of streams. `store` is its folder of sessions; other processes of it use the same one."""

    def __init__(self, store: Path, url: str, key: str, out: IO[str]) -> None:
        self._store = store
        self._url = urlsplit(url)
        self._key = key
        self._out = out
        self._open: dict[str, Session] = {}

    def serve(self, lines: IO[str]) -> None:
        """Answer every request until the input ends; notifications need no answer."""
        for line in lines:
            asked = json.loads(line)
            if "id" not in asked or "method" not in asked:
                continue
            answer: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
            try:
                answer["result"] = self._answer(asked["method"], asked.get("params") or {})
            except AgentError as error:
                answer["error"] = {"code": error.code, "message": str(error)}
            self._send(answer)

    def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "initialize":
                able = {"loadSession": True, "sessionCapabilities": {"fork": {}, "close": {}}, "promptCapabilities": {}}
                return {"protocolVersion": 1, "agentCapabilities": able, "authMethods": []}
            case "session/new":
                return {"sessionId": self._keep(Session(self._new_id(), params["cwd"], "", [], [])).id}
            case "session/load":
                return self._load(params["sessionId"], params["cwd"])
            case "session/fork":
                source = self._stored(params["sessionId"])
                child = Session(self._new_id(), params["cwd"], source.response, source.shown, source.unsent)
                return {"sessionId": self._keep(child).id}
            case "session/prompt":
                return self._turn(self._session(params["sessionId"]), params["prompt"])
            case "session/set_mode" | "session/close":
                return {}
            case _:
                raise AgentError(NO_METHOD, f"Method not found: {method}")

    # --- Sessions --------------------------------------------------------------------------------------------------

    def _new_id(self) -> str:
        """The next number that no process has taken yet."""
        number = 1
        while True:
            name = f"agent-session-{number}"
            try:
                (self._store / f"{name}.json").open("x").close()
            except FileExistsError:
                number += 1
            else:
                return name

    def _keep(self, session: Session) -> Session:
        self._open[session.id] = session
        whole = self._store / f"{session.id}.json.{os.getpid()}"
        whole.write_text(json.dumps(asdict(session)), encoding="utf-8")
        whole.replace(self._store / f"{session.id}.json")
        return session

    def _stored(self, name: str) -> Session:
        try:
            told = json.loads((self._store / f"{name}.json").read_text(encoding="utf-8"))
        except OSError as error:
            raise AgentError(NO_SESSION, f"Session not found: {name}") from error
        shown = [(role, text) for role, text in told["shown"]]
        # What was said to a process that died is said again by a client that wants it answered.
        unsent = [item for item in told["unsent"] if item["type"] != "message"]
        return Session(told["id"], told["directory"], told["response"], shown, unsent)

    def _session(self, name: str) -> Session:
        if name not in self._open:
            raise AgentError(NO_SESSION, f"Session not open: {name}")
        return self._open[name]

    def _load(self, name: str, directory: str) -> dict[str, Any]:
        session = self._stored(name)
        session.directory = directory
        self._open[name] = session
        for role, text in session.shown:
            self._tell(session, f"{role}_message_chunk", text)
        return {}

    # --- Turns -----------------------------------------------------------------------------------------------------

    def _turn(self, session: Session, prompt: list[dict[str, Any]]) -> dict[str, Any]:
        texts = [block["text"] for block in prompt if block.get("type") == "text"]
        session.shown += [("user", text) for text in texts]
        said = [{"type": "input_text", "text": text} for text in texts]
        session.unsent.append({"type": "message", "role": "user", "content": said})
        while session.unsent:
            self._keep(session)
            answer = self._ask(session, session.unsent)
            session.response, session.unsent = answer["id"], []
            for item in answer["output"]:
                session.unsent += self._act(session, item)
        self._keep(session)
        return {"stopReason": "end_turn"}

    def _ask(self, session: Session, sent: list[dict[str, Any]]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": "scripted", "input": sent, "tools": [SHELL], "store": True}
        if session.response:
            body["previous_response_id"] = session.response
        connection = HTTPConnection(self._url.hostname or "127.0.0.1", self._url.port)
        headers = {"authorization": f"Bearer {self._key}", "content-type": "application/json", "session_id": session.id}
        try:
            connection.request("POST", "/v1/responses", json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8")
        except OSError as error:
            raise AgentError(FAILED, f"the model can't be reached: {error}") from error
        finally:
            connection.close()
        if answer.status != 200:  # noqa: PLR2004  # HTTP's OK
            raise AgentError(FAILED, f"the model answered {answer.status}: {text}")
        told: dict[str, Any] = json.loads(text)
        return told

    def _act(self, session: Session, item: dict[str, Any]) -> list[dict[str, Any]]:
        """Carry out one item of an answer; what the model is to be told of it."""
        match item:
            case {"type": "message", "content": list(parts)}:
                for part in parts:
                    session.shown.append(("agent", part["text"]))
                    self._tell(session, "agent_message_chunk", part["text"])
                return []
            case {"type": "function_call", "call_id": call, "arguments": arguments}:
                output = self._run(session, call, json.loads(arguments))
                return [{"type": "function_call_output", "call_id": call, "output": output}]
            case _:
                return []

    def _run(self, session: Session, call: str, arguments: dict[str, Any]) -> str:
        command = arguments["command"]
        begun = {"sessionUpdate": "tool_call", "toolCallId": call, "title": "shell", "kind": "execute"}
        self._update(session, begun | {"status": "in_progress", "rawInput": arguments})
        # A command of the suite's own, in the directory that the harness gave.
        ran = subprocess.run(  # noqa: S603
            ["/bin/sh", "-c", command], cwd=session.directory, capture_output=True, text=True, check=False
        )
        output = ran.stdout + ran.stderr
        ended = {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed"}
        content = [{"type": "content", "content": {"type": "text", "text": output}}]
        self._update(session, ended | {"content": content, "rawOutput": {"output": output}})
        return output

    def _tell(self, session: Session, kind: str, text: str) -> None:
        self._update(session, {"sessionUpdate": kind, "content": {"type": "text", "text": text}})

    def _update(self, session: Session, update: dict[str, Any]) -> None:
        about = {"sessionId": session.id, "update": update}
        self._send({"jsonrpc": "2.0", "method": "session/update", "params": about})

    def _send(self, message: dict[str, Any]) -> None:
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()


def main() -> None:
    """Serve standard input and output until the input ends."""
    store = Path(os.environ["HOME"]) / ".scripted-agent"
    store.mkdir(mode=0o700, exist_ok=True)
    url, key = os.environ["FORKPROOF_AGENT_URL"], os.environ["FORKPROOF_AGENT_KEY"]
    ScriptedAgent(store, url, key, sys.stdout).serve(sys.stdin)


if __name__ == "__main__":
    main()
