"""pi's RPC, with the extension by which forkproof asks for more (adapters/pi/bridge.js)."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, ClassVar

from route import Route
from sessions import Json, Model

_AGENT = Path.home() / ".pi" / "agent"
_BRIDGE = "/forkproof "
_STOPS = {"end_turn": "stop", "cancelled": "aborted", "failed": "error"}


class Pi(Route):
    """One session is open at a time, and it is stored with its first answer, as the adapter expects of pi.

    The arguments are not looked at: the adapter names a session in them only where it needs a second process.
    """

    phases: ClassVar = {
        "get_state": "start",
        "new_session": "open",
        "prompt": "prompt",
        "clone": "fork",
        "compact": "compact",
        "abort": "cancel",
    }

    def __init__(self, fault: Any) -> None:
        super().__init__(fault)
        self.asked: dict[Any, str] = {}
        self.turn = threading.Thread()
        self.now = self.begin(str(Path.cwd()))

    def model(self) -> Model:
        (provider,) = json.loads((_AGENT / "models.json").read_text())["providers"].values()
        return Model("chat", provider["baseUrl"], provider["apiKey"])

    # --- The protocol ----------------------------------------------------------------------------------------------

    def hear(self, message: Json) -> None:
        params = dict(message)
        number, kind = params.pop("id"), params.pop("type")
        self.asked[number] = kind
        super().hear({"method": kind, "id": number, "params": params})

    def phase(self, method: str, params: Json) -> str:
        of_the_bridge = method == "prompt" and params["message"].startswith(_BRIDGE)
        return "" if of_the_bridge else super().phase(method, params)

    def dress(self, message: Json) -> Json:
        match message:
            case {"id": number, "result": data}:
                return self.response(number, success=True, data=data)
            case {"id": number, "error": {"message": words}}:
                return self.response(number, success=False, error=words)
            case {"method": kind, "params": members}:
                return {"type": kind, **members}
        raise ValueError(message)

    def response(self, number: Any, **members: Any) -> Json:
        return {"id": number, "type": "response", "command": self.asked.get(number, "get_state"), **members}

    def tell(self, kind: str, **members: Any) -> None:
        self.send(method=kind, params=members)

    # --- Sessions --------------------------------------------------------------------------------------------------

    def begin(self, cwd: str, source: Json | None = None) -> str:
        name = self.sessions.new(cwd, source["messages"] if source else [], source["turns"] if source else [])
        folder = cwd.strip("/").replace("/", "-")
        self.hold(name, _AGENT / "sessions" / f"--{folder}--" / f"{name}.jsonl", source)
        return name

    def hold(self, name: str, file: Path, source: Json | None = None) -> None:
        session = self.sessions.all[name]
        session["file"] = file
        session["header"] = {"type": "session", "version": 3, "id": name, "cwd": session["cwd"]}
        if source is not None:
            session["header"]["parentSession"] = str(source["file"])
            self.store(session)

    def store(self, session: Json) -> None:
        session["file"].parent.mkdir(parents=True, exist_ok=True)
        lines = (session["header"], *session["turns"])
        session["file"].write_text("".join(json.dumps(line) + "\n" for line in lines))

    def add(self, session: Json, kind: str, **members: Any) -> None:
        entries = session["turns"]
        parent = entries[-1]["id"] if entries else None
        entries.append({"type": kind, "id": f"{len(entries) + 1:08x}", "parentId": parent, **members})

    def do_get_state(self, number: Any, _params: Json) -> None:
        state = {
            "sessionId": self.now,
            "sessionFile": str(self.sessions.all[self.now]["file"]),
            "model": {"id": "fake-1"},
            "thinkingLevel": "medium",
            "isStreaming": self.turn.is_alive(),
            "isCompacting": False,
        }
        self.send(id=number, result=state)

    def do_switch_session(self, number: Any, params: Json) -> None:
        file = Path(params["sessionPath"])
        header = json.loads(file.read_text().partition("\n")[0])
        self.now = header["id"]
        if self.now not in self.sessions.all:
            self.sessions.all[self.now] = {"cwd": header["cwd"], "messages": [], "turns": []}
            self.hold(self.now, file)
        self.send(id=number, result={"cancelled": False})

    def do_new_session(self, number: Any, _params: Json) -> None:
        self.now = self.begin(self.sessions.all[self.now]["cwd"])
        self.send(id=number, result={"cancelled": False})

    def do_clone(self, number: Any, _params: Json) -> None:
        source = self.sessions.all[self.now]
        self.now = self.begin(source["cwd"], source)
        self.send(id=number, result={"cancelled": False})

    # --- Turns -----------------------------------------------------------------------------------------------------

    def do_prompt(self, number: Any, params: Json) -> None:
        text = params["message"]
        if text.startswith(_BRIDGE):
            self.bridge(json.loads(text.removeprefix(_BRIDGE)))
            self.send(id=number, result=None)
            return
        self.send(id=number, result=None)
        self.turn = threading.Thread(target=self.run, args=(self.now, text), daemon=True)
        self.turn.start()

    def run(self, name: str, text: str) -> None:
        self.tell("agent_start")
        asked = {"role": "user", "content": text}
        self.tell("message_start", message=asked)
        stop, said = self.sessions.turn(name, text)
        answer = {"role": "assistant", "content": [{"type": "text", "text": said}], "stopReason": _STOPS[stop]}
        session = self.sessions.all[name]
        for message in (asked, answer):
            self.add(session, "message", message=message)
        self.store(session)
        self.tell("message_end", message=answer)
        self.tell("agent_end", messages=[asked, answer])
        self.tell("agent_settled", aborted=stop == "cancelled")

    def do_abort(self, number: Any, _params: Json) -> None:
        """Answered when nothing runs."""
        if self.sessions.cancel(self.now):
            self.turn.join()
        self.send(id=number, result=None)

    def do_compact(self, number: Any, _params: Json) -> None:
        self.in_a_thread(self.compact, number, self.now)

    def compact(self, number: Any, name: str) -> None:
        self.sessions.compact(name)
        session = self.sessions.all[name]
        summary = session["messages"][0][1]
        self.add(session, "compaction", summary=summary)
        self.store(session)
        self.send(id=number, result={"summary": summary})

    def bridge(self, asked: Json) -> None:
        session = self.sessions.all[self.now]
        entries = session["turns"]
        held = {"header": session["header"], "entries": entries, "leafId": entries[-1]["id"] if entries else None}
        done = {"done": held} if asked["do"] == "stand" else {"failed": f"no action {asked['do']}"}
        message = json.dumps({"forkproof": asked["token"], **done})
        self.tell("extension_ui_request", id=f"ui-{asked['token']}", method="notify", message=message)
