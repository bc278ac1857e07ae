#!/usr/bin/env python3
"""An adapter for forkproof: the adapter protocol, version 1, on standard input and output. Python 3.9 or newer.

    forkproof adapter check adapter.py      does it keep to the protocol?
    forkproof run ./adapter.py              are the forks of the harness right?

`Harness` stands for yours: sessions in memory, one shell tool, a model behind the Chat Completions API. Replace what it
does by calls of your harness, declare in DESCRIPTION what yours can do, and add the methods that go with it. The
contract is forkproof's docs/adapters.md; `forkproof schema adapter` prints the shape of every message.
"""

import json
import subprocess
import sys
import threading
import urllib.request

VERSION = 1
DESCRIPTION = {
    "harness": "my-harness",
    "version": "0.1",
    # How the harness speaks to its model. forkproof plays the model, at the endpoint that `start` names.
    "wire": "chat",
    # Declare what the harness can really do: what is declared and not shown is a failure.
    "capabilities": [
        "fork.after", "fork.before", "fork.head",
        "tool.count", "tool.edit", "tool.read", "tool.run", "tool.write",
    ],
    "policies": {"busy_source": "refuse", "cache_key": "none", "settings_source": "latest", "grants": "fresh"},
    # The harness's shell tool: forkproof writes the commands that its abstract tools become.
    "shell": {"tool": "shell", "argument": "command"},
}


class Refused(Exception):
    """A definite no. The reason is one of busy, unknown-cut, unknown-session, other."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


# --- The harness: replace it by yours --------------------------------------------------------------------------------


class Harness:
    """A session is a directory and a list of messages, each with the id of its turn; a fork is a copy of a part."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.sessions = {}
        self.turns = 0
        self.lock = threading.Lock()

    def open(self, directory, messages=()):
        with self.lock:
            session = f"session-{len(self.sessions) + 1}"
            self.sessions[session] = {"directory": directory, "messages": list(messages), "busy": False}
        return session

    def find(self, session):
        if not isinstance(session, str) or session not in self.sessions:
            raise Refused("unknown-session", f"there is no session {session}")
        return self.sessions[session]

    def prompt(self, session, text):
        found = self.find(session)
        with self.lock:
            if found["busy"]:
                raise Refused("busy", f"a turn runs in {session}")
            found["busy"] = True
            self.turns += 1
            turn = f"turn-{self.turns}"
        try:
            say = lambda message: found["messages"].append((turn, message))  # noqa: E731
            say({"role": "user", "content": text})
            while True:
                answer = self.ask(found)
                say(answer)
                if not answer.get("tool_calls"):
                    return turn
                for call in answer["tool_calls"]:
                    command = json.loads(call["function"]["arguments"])["command"]
                    done = subprocess.run(["/bin/sh", "-c", command], cwd=found["directory"], stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                    output = done.stdout.decode("utf-8", "replace")
                    say({"role": "tool", "tool_call_id": call["id"], "content": output})
        finally:
            found["busy"] = False

    def ask(self, session):
        place = f"You are an agent with a shell. The working directory is {session['directory']}"
        messages = [{"role": "system", "content": place}, *(message for _, message in session["messages"])]
        tool = {"type": "function", "function": {"name": "shell", "parameters": {
            "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}}
        request = urllib.request.Request(
            self.endpoint["url"] + "/v1/chat/completions",
            json.dumps({"model": "fake-model", "messages": messages, "tools": [tool]}).encode(),
            {"content-type": "application/json", "authorization": f"Bearer {self.endpoint['key']}"},
        )
        with urllib.request.urlopen(request) as answer:
            message = json.load(answer)["choices"][0]["message"]
        said = {"role": "assistant", "content": message.get("content") or ""}
        return {**said, "tool_calls": message["tool_calls"]} if message.get("tool_calls") else said

    def fork(self, session, kind, turn):
        source = self.find(session)
        if source["busy"]:
            raise Refused("busy", f"a turn runs in {session}")
        own = [at for at, (id_, _) in enumerate(source["messages"]) if id_ == turn]
        if kind != "head" and not own:
            raise Refused("unknown-cut", f"{session} has no turn {turn}")
        end = {"head": lambda: None, "before": lambda: own[0], "after": lambda: own[-1] + 1}[kind]()
        return self.open(source["directory"], source["messages"][:end])

    def turn_holding(self, session, text):
        users = [(turn, m) for turn, m in self.find(session)["messages"] if m["role"] == "user"]
        return next((turn for turn, message in users if text in message["content"]), None)


# --- The adapter: one function a method, params in, result out -------------------------------------------------------

harness = None


def initialize(params):
    if params["protocolVersion"] != VERSION:
        raise ValueError(f"this adapter speaks version {VERSION} only")
    return {"protocolVersion": VERSION, "name": "my-adapter"}


def start(params):
    global harness
    harness = Harness(params["endpoint"])
    return {}


def stop(_params):
    global harness
    harness = None
    return {}


def session_open(params):
    return {"sessionId": harness.open(params["cwd"])}


def session_prompt(params):
    try:
        turn = harness.prompt(params["sessionId"], params["text"])
    except OSError as error:  # the model's server failed
        return {"stopReason": "failed", "detail": str(error)}
    return {"stopReason": "end_turn", "native": turn}


def session_fork(params):
    cut, source = params["cut"], params["sessionId"]
    if params["workspace"] != "shared":
        return {"outcome": "unsupported", "what": "an isolated workspace"}
    turn = None
    if cut["kind"] != "head":
        # The turn's own id, or the one whose message holds the marker; one that never was must stay unknown.
        known = cut["turn"].get("exists", True)
        turn = (cut["turn"].get("native") or harness.turn_holding(source, cut["turn"]["marker"])) if known else "unknown"
    child = harness.fork(source, cut["kind"], turn)
    # `reported` is what the harness itself states. What you work out is `derived`; what nobody knows is left out.
    record = {
        "sessionId": child,
        "source": source,
        "cut": {"head": True} if cut["kind"] == "head" else {cut["kind"]: turn},
        "revision": f"{source}@{len(harness.find(source)['messages'])}",
        "settings": {"model": {"value": "fake-model", "origin": "latest"}},
        "checkpoint": "none",
        "cwd": harness.find(child)["directory"],
        "workspace": "shared",
        "edge": "fork",
        "grants": [],
        "memories": [],
    }
    return {"record": {name: {"value": value, "origin": "reported"} for name, value in record.items()}}


METHODS = {
    "initialize": initialize,
    "describe": lambda _params: DESCRIPTION,
    "start": start,
    "stop": stop,
    "session/open": session_open,
    "session/prompt": session_prompt,
    "session/fork": session_fork,
}

# --- JSON-RPC 2.0, one object a line ---------------------------------------------------------------------------------

writing = threading.Lock()


def send(message):
    with writing:  # several operations may be under way at once
        sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        sys.stdout.buffer.flush()


def answer(request):
    number, method, params = request["id"], request["method"], request.get("params") or {}
    try:
        if method not in METHODS:
            send({"id": number, "error": {"code": -32601, "message": f"Method not found: {method}"}})
        elif method.startswith("session/") and harness is None:
            send({"id": number, "error": {"code": -32000, "message": "not started", "data": {"code": "start-failed"}}})
        else:
            send({"id": number, "result": METHODS[method](params)})
    except Refused as no:
        send({"id": number, "result": {"outcome": "refused", "reason": no.reason, "message": str(no)}})
    except (KeyError, TypeError) as error:
        send({"id": number, "error": {"code": -32602, "message": f"{method}: {error!r}"}})
    except Exception as error:  # noqa: BLE001
        send({"id": number, "error": {"code": -32603, "message": f"{type(error).__name__}: {error}"}})


def main():
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError as error:
            send({"id": None, "error": {"code": -32700, "message": f"not JSON: {error}"}})
            continue
        if not isinstance(message, dict):
            send({"id": None, "error": {"code": -32600, "message": "not a request"}})
        elif isinstance(message.get("method"), str) and "id" in message:
            if message["method"] == "session/prompt":  # takes long: others must be answered meanwhile
                threading.Thread(target=answer, args=(message,), daemon=True).start()
            else:
                answer(message)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
