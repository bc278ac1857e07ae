"""A scripted agent that speaks ACP on stdio, for tests of the client. Standard library only.

`python fake_acp.py --clock FILE [--fault NAME]...`. Its sessions hold rows with a stamp in whole seconds, like Goose's,
and its private methods have Goose's names. The stamp is the number in FILE, so that a test owns the time. A prompt's
words steer it: `STAY` keeps the turn open until it is cancelled, `ASK` asks for permission, to run the command behind
it if there is one, `READ PATH` and `WRITE PATH` ask the client for a file, `ODD` sends updates that no schema knows,
`FLOOD N` sends N updates of a thousand bytes, `DIE` ends the process, `GARBAGE` writes a line that is no JSON, `FAIL`
answers with an error. Its sessions are kept in HOME, so that another process finds them. Where FAKE_MODEL names a
model's URL, any other prompt goes there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class RefusalError(Exception):
    """An error answer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


class Agent:
    """All state of the agent; one call of `handle` a line."""

    def __init__(self, clock: Path, faults: set[str]) -> None:
        self.clock = clock
        self.faults = faults
        self.sessions: dict[str, Json] = {}
        self.open: dict[str, Json] = {}
        self.asked: dict[str, Json] = {}
        self.store = Path(os.environ.get("HOME", "."), "fake-sessions.json")
        if self.store.is_file():
            self.sessions = json.loads(self.store.read_text(encoding="utf-8"))

    def save(self) -> None:
        """Whole or not at all: a kill must not leave half a file."""
        fresh = self.store.with_suffix(".new")
        fresh.write_text(json.dumps(self.sessions), encoding="utf-8")
        fresh.replace(self.store)

    def now(self) -> int:
        return int(self.clock.read_text(encoding="utf-8"))

    def send(self, message: Json) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def update(self, session: str, update: Json) -> None:
        self.send({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def handle(self, message: Json) -> None:
        method = message.get("method")
        if method is None:
            self.answered(message)
        elif method == "session/cancel":
            self.cancel(message["params"]["sessionId"])
        else:
            try:
                result = self.ask(method, message.get("params") or {}, message)
                self.save()
            except RefusalError as refusal:
                self.send({"id": message["id"], "error": refusal.error})
            else:
                if result is not None:
                    self.send({"id": message["id"], "result": result})

    def ask(self, method: str, params: Json, message: Json) -> Json | None:
        if f"hang:{method}" in self.faults:
            return None
        name = method.removeprefix("_goose/unstable/").replace("/", "_")
        found = getattr(self, f"do_{name}", None)
        if found is None or f"no:{method}" in self.faults:
            raise RefusalError(-32601, "Method not found")
        return found(params, message)  # type: ignore[no-any-return]  # a test program

    def session(self, name: str) -> Json:
        if name not in self.sessions:
            raise RefusalError(-32603, "Internal error", "Session not found")
        return self.sessions[name]

    def make(self, cwd: str, rows: list[Json], effort: str = "off") -> Json:
        if "no-such-place" not in self.faults and not Path(cwd).is_dir():
            raise RefusalError(-32602, "Invalid params", "invalid directory path")
        name = f"20300101_{len(self.sessions) + 1}"
        self.sessions[name] = {"cwd": cwd, "rows": rows, "effort": effort, "mode": "auto", "source": None}
        options = [
            {"id": "model", "type": "select", "currentValue": "m1", "options": []},
            {"id": "thinking_effort", "type": "select", "currentValue": effort, "options": []},
            {"id": "unheard-of", "currentValue": {"deep": True}},
        ]
        modes = {"currentModeId": "auto", "availableModes": []}
        return {"sessionId": name, "modes": modes, "configOptions": options, "newField": 1}

    # --- methods ---------------------------------------------------------------------------------------------------

    def do_initialize(self, params: Json, _message: Json) -> Json:
        if "old-protocol" in self.faults:
            return {"protocolVersion": 0}
        info = {"name": "fake", "version": "9.9", "environment": dict(os.environ)}
        claims: Json = {}
        if "claims" in self.faults:
            methods = ("close", "delete", "fork", "list", "resume")
            claims = {"loadSession": True, "sessionCapabilities": {method: {} for method in methods}}
        return {"protocolVersion": params["protocolVersion"], "agentCapabilities": claims, "agentInfo": info}

    def do_session_new(self, params: Json, _message: Json) -> Json:
        return self.make(params["cwd"], [])

    def do_session_fork(self, params: Json, _message: Json) -> Json:
        source = self.session(params["sessionId"])
        if "busy" in self.faults and params["sessionId"] in self.open:
            raise RefusalError(-32602, "Invalid params", "session already has active run `r1`")
        cut = (params.get("_meta") or {}).get("conversationBefore")
        rows = [r for r in source["rows"] if cut is None or r["created"] < cut]
        made = self.make(params["cwd"], list(rows), source["effort"])
        self.sessions[made["sessionId"]]["source"] = params["sessionId"]
        return made | {"_meta": {"askedCut": cut}}

    def do_session_set_config_option(self, params: Json, _message: Json) -> Json:
        if params["configId"] != "thinking_effort":
            raise RefusalError(-32602, "Invalid params", f"Unsupported config option: {params['configId']}")
        self.session(params["sessionId"])["effort"] = params["value"]
        return {}

    def do_session_set_mode(self, params: Json, _message: Json) -> Json:
        if params["modeId"] not in {"auto", "careful"}:
            raise RefusalError(-32602, "Invalid params", f"no mode {params['modeId']}")
        self.session(params["sessionId"])["mode"] = params["modeId"]
        return {}

    def do_session_load(self, params: Json, _message: Json) -> Json:
        name = params["sessionId"]
        session = self.session(name)
        session["loaded"] = True
        for number, row in enumerate(session["rows"]):
            kind = "user_message_chunk" if row["role"] == "user" else "agent_message_chunk"
            self.update(name, {"sessionUpdate": kind, "messageId": f"m{number}", "content": row["content"][0]})
        return {"modes": {"currentModeId": session["mode"], "availableModes": []}}

    def do_session_resume(self, params: Json, _message: Json) -> Json:
        self.session(params["sessionId"])["resumed"] = True
        return {}

    def do_session_list(self, _params: Json, _message: Json) -> Json:
        # Two pages, so that a client that reads only the first is found out.
        names = list(self.sessions)
        page = names[1:] if "cursor" in _params else names[:1]
        listed = [{"sessionId": n, "cwd": self.sessions[n]["cwd"], "title": f"About {n}"} for n in page]
        more = {} if "cursor" in _params or len(names) < 2 else {"nextCursor": "p2"}
        return {"sessions": listed, **more}

    def do_session_info(self, params: Json, _message: Json) -> Json:
        name = params["sessionId"]
        return {"session": {"sessionId": name, "cwd": self.session(name)["cwd"]}}

    def do_session_export(self, params: Json, _message: Json) -> Json:
        session = self.session(params["sessionId"])
        if "odd-export" in self.faults:
            return {"data": json.dumps({"messages": session["rows"]})}
        parent = session["source"] if "names-parents" in self.faults else None
        told = {"conversation": session["rows"], "working_dir": session["cwd"], "parent_session_id": parent}
        return {"data": json.dumps(told)}

    def do_session_delete(self, params: Json, _message: Json) -> Json:
        self.session(params["sessionId"])["deleted"] = True
        if "keeps-deleted" not in self.faults:
            del self.sessions[params["sessionId"]]
        return {}

    def do_session_import(self, params: Json, _message: Json) -> Json:
        told = json.loads(params["input"])
        made = self.make(told["working_dir"], told["conversation"])
        return {"sessionId": made["sessionId"]}

    def do_session_prompt(self, params: Json, message: Json) -> Json | None:
        name, text = params["sessionId"], params["prompt"][0]["text"]
        session = self.session(name)
        if name in self.open:
            raise RefusalError(-32602, "Invalid params", "session already has active run `r1`; steer it")
        if "DIE" in text:
            sys.stderr.write("fatal: the agent saw DIE\n")
            sys.stderr.flush()
            os._exit(7)
        if "FAIL" in text:
            raise RefusalError(-32603, "Internal error", "the model is gone")
        if "GARBAGE" in text:
            sys.stdout.write("Segmentation fault, core dumped\n")
            sys.stdout.flush()
            return None
        self.row(session, "user", text)
        self.open[name] = message
        self.show(name, text, len(session["rows"]) // 2)
        if "ASK" in text:
            options = [{"optionId": f"id-{k}", "kind": k} for k in ("allow_always", "allow_once", "reject_once")]
            call = {"toolCallId": "t1", "rawInput": {"command": text.partition("ASK ")[2]}}
            asked = {"sessionId": name, "options": options, "toolCall": call}
            self.request(name, "session/request_permission", asked)
        elif "READ " in text:
            self.request(name, "fs/read_text_file", {"sessionId": name, "path": text.partition("READ ")[2]})
        elif "WRITE " in text:
            place = text.partition("WRITE ")[2]
            self.request(name, "fs/write_text_file", {"sessionId": name, "path": place, "content": "written\n"})
        elif "STAY" in text:
            self.update(name, {"sessionUpdate": "tool_call", "toolCallId": "c1", "status": "in_progress"})
        elif "LATER" in text:
            # Work goes on behind the answer, as some agents' compaction does.
            self.finish(name, "begun")
            self.update(name, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "all done"}})
        elif "FAKE_MODEL" in os.environ:
            self.finish(name, self.think(session))
        else:
            self.finish(name, f"echo: {text}")
        return None

    def show(self, name: str, text: str, number: int) -> None:
        """The updates that come before anything else of a turn."""
        if "message-ids" in self.faults:
            self.update(name, {"sessionUpdate": "user_message_chunk", "messageId": f"u-{number}"})
            self.update(name, {"sessionUpdate": "agent_message_chunk", "messageId": f"a-{number}"})
        if "ODD" in text:
            self.update(name, {"sessionUpdate": "compaction_update", "nobody": ["knows"]})
            self.send({"method": "_vendor/notice", "params": {"of": "something"}})
        if "FLOOD " in text:
            words = {"type": "text", "text": "x" * 1000}
            for _ in range(int(text.partition("FLOOD ")[2])):
                self.update(name, {"sessionUpdate": "agent_message_chunk", "messageId": "one", "content": words})

    def think(self, session: Json) -> str:
        """Ask the model at FAKE_MODEL, over Chat Completions; it may answer with words only."""
        rows = session["rows"][-1:] if "forgets" in self.faults else session["rows"]
        told = [{"role": row["role"], "content": row["content"][0]["text"]} for row in rows]
        body = json.dumps({"model": "m1", "messages": told, "stream": False}).encode()
        headers = {"Authorization": f"Bearer {os.environ['FAKE_KEY']}", "Content-Type": "application/json"}
        request = urllib.request.Request(os.environ["FAKE_MODEL"], body, headers)  # noqa: S310  # on loopback
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310  # as above
            return str(json.load(answer)["choices"][0]["message"]["content"])

    # --- turns -----------------------------------------------------------------------------------------------------

    def row(self, session: Json, role: str, text: str) -> None:
        content = [{"type": "text", "text": text}]
        seen = {"userVisible": True, "agentVisible": True}
        session["rows"].append({"role": role, "created": self.now(), "content": content, "metadata": seen})

    def request(self, session: str, method: str, params: Json) -> None:
        ident = f"agent-{len(self.asked)}"
        self.asked[ident] = {"session": session}
        self.send({"id": ident, "method": method, "params": params})

    def answered(self, message: Json) -> None:
        asked = self.asked.pop(message["id"])
        if asked["session"] not in self.open:
            return
        self.finish(asked["session"], "got " + json.dumps(message.get("result", message.get("error")), sort_keys=True))

    def finish(self, session: str, text: str, stop: str = "end_turn") -> None:
        self.row(self.sessions[session], "assistant", text)
        self.save()
        self.update(session, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
        self.send({"id": self.open.pop(session)["id"], "result": {"stopReason": stop, "usage": {"new": 1}}})

    def cancel(self, session: str) -> None:
        if session in self.open:
            self.send({"id": self.open.pop(session)["id"], "result": {"stopReason": "cancelled"}})


def main() -> None:
    """Serve standard input until it ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clock", type=Path, required=True)
    parser.add_argument("--fault", action="append", default=[])
    options = parser.parse_args()
    faults = set(options.fault)
    if "die-at-start" in faults:
        sys.exit("cannot open my database")
    if "noise-at-start" in faults:
        sys.stdout.write("Welcome!\n")
        sys.stdout.flush()
    agent = Agent(options.clock, faults)
    for line in sys.stdin:
        agent.handle(json.loads(line))
    while "outlive-stdin" in faults:
        time.sleep(60)


if __name__ == "__main__":
    main()
