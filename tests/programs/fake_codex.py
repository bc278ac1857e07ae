"""A scripted `codex app-server` for tests: threads and turns in memory, no model, and misbehaviour on demand.

Started as `fake_codex.py MODE app-server`. A turn whose text holds WAIT runs until it is interrupted, one that holds
FAIL fails, any other completes at once. MODE is normal, or names one misbehaviour:

mute      answers nothing
refuse    ends before the handshake, with a message
die       ends in the middle of a turn
garbage   writes a line that is no JSON
nameless  a fork's answer names no thread
internal  an internal error at the fork
eager     tells a turn's end before the answer that names the turn
asks      asks for an approval during a turn, and fails the turn unless it is accepted
renumber  a fork gives its copied turns new ids
clips     a fork leaves out the last turn
lenient   a fork of an unknown thread is a new one, and an unknown turn cuts nothing off
"""

from __future__ import annotations

import json
import sys
import uuid
from typing import Any

MODE = sys.argv[1]
THREADS: dict[str, dict[str, Any]] = {}
SOURCES: dict[str, str] = {}
SANDBOXES = {"danger-full-access": "dangerFullAccess", "read-only": "readOnly"}


def main() -> None:
    if sys.argv[2:] != ["app-server"]:
        sys.exit(f"unexpected arguments {sys.argv[2:]}")
    if MODE == "refuse":
        sys.exit("error: the configuration is broken")
    for line in sys.stdin:
        if MODE != "mute":
            hear(json.loads(line))


def send(message: dict[str, Any]) -> None:
    say(json.dumps(message))


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def hear(message: dict[str, Any]) -> None:
    method, params = message.get("method"), message.get("params") or {}
    if method is None:
        approval(message)
    elif "id" in message:
        try:
            answer(message["id"], method, params)
        except LookupError as error:
            code = -32603 if MODE == "internal" else -32600
            send({"id": message["id"], "error": {"code": code, "message": error.args[0]}})


def answer(number: int, method: str, params: dict[str, Any]) -> None:
    match method:
        case "initialize":
            result: dict[str, Any] = {"userAgent": "fake/0.0.0"}
        case "thread/start":
            result = started(params)
        case "turn/start":
            return begin(number, params)
        case "turn/interrupt":
            result = interrupt(params)
        case "thread/fork":
            result = fork(params)
        case "thread/compact/start":
            turn = new_turn(thread(params), [{"type": "contextCompaction", "id": "c"}])
            send({"id": number, "result": {}})
            tell("turn/started", params["threadId"], turn)
            return end(params["threadId"], turn, "completed")
        case "thread/turns/list":
            result = listed(params)
        case _ if method in SIMPLE:
            result = SIMPLE[method](params)
        case _:
            raise LookupError(f"Invalid request: unknown variant `{method}`")
    return send({"id": number, "result": result})


def started(params: dict[str, Any]) -> dict[str, Any]:
    name = str(uuid.uuid4())
    THREADS[name] = {"cwd": params["cwd"], "turns": [], "model": params.get("model", "fake-model")}
    return state(name)


def state(name: str, source: str | None = None) -> dict[str, Any]:
    here = {"id": name, "forkedFromId": source, "parentThreadId": None}
    return {
        "thread": here if MODE != "nameless" or source is None else {},
        "cwd": THREADS[name]["cwd"],
        "model": THREADS[name]["model"],
        "reasoningEffort": None,
        "approvalPolicy": THREADS[name].get("approvalPolicy", "never"),
        "sandbox": {"type": SANDBOXES[THREADS[name].get("sandbox", "danger-full-access")]},
    }


def thread(params: dict[str, Any]) -> dict[str, Any]:
    if params["threadId"] not in THREADS:
        raise LookupError(f"no rollout found for thread id {params['threadId']}")
    return THREADS[params["threadId"]]


def new_turn(within: dict[str, Any], items: list[dict[str, Any]]) -> dict[str, Any]:
    turn = {"id": str(uuid.uuid4()), "items": items, "status": "inProgress", "error": None}
    within["turns"].append(turn)
    return turn


def begin(number: int, params: dict[str, Any]) -> None:
    name, words = params["threadId"], params["input"][0]["text"]
    turn = new_turn(thread(params), [{"type": "userMessage", "id": "u", "content": params["input"]}])
    told = {"id": number, "result": {"turn": turn}}
    if MODE == "eager":
        tell("turn/started", name, turn)
        end(name, turn, "completed")
        return send(told)
    send(told)
    tell("turn/started", name, turn)
    if MODE == "die":
        sys.exit(7)
    if MODE == "garbage":
        say("Segmentation fault")
    elif MODE == "asks":
        asked = {"threadId": name, "turnId": turn["id"], "itemId": "call_1", "proposedExecpolicyAmendment": ["rm"]}
        send({"id": f"{name} {turn['id']}", "method": "item/commandExecution/requestApproval", "params": asked})
    elif "WAIT" not in words:
        end(name, turn, "failed" if "FAIL" in words else "completed")
    return None


def tell(method: str, name: str, turn: dict[str, Any]) -> None:
    send({"method": method, "params": {"threadId": name, "turn": turn}})


def end(name: str, turn: dict[str, Any], status: str) -> None:
    turn["status"] = status
    if status == "failed":
        turn["error"] = {"message": "the model failed"}
    tell("turn/completed", name, turn)
    if queue := THREADS[name].get("queue"):
        waiting = queue.pop(0)
        item = {
            "type": "userMessage",
            "id": "u",
            "clientId": waiting["clientUserMessageId"],
            "content": waiting["input"],
        }
        following = new_turn(THREADS[name], [item])
        tell("turn/started", name, following)
        send({"method": "item/started", "params": {"threadId": name, "turnId": following["id"], "item": item}})
        end(name, following, "completed")


def steer(params: dict[str, Any]) -> dict[str, Any]:
    for turn in thread(params)["turns"]:
        if turn["id"] == params["expectedTurnId"] and turn["status"] == "inProgress":
            turn["items"].append({"type": "userMessage", "id": "s", "content": params["input"]})
            return {"turnId": turn["id"]}
    raise LookupError("no active turn to steer")


def approval(message: dict[str, Any]) -> None:
    name, wanted = message["id"].split()
    turn = next(t for t in THREADS[name]["turns"] if t["id"] == wanted)
    turn["items"].append({"type": "agentMessage", "id": "a", "text": json.dumps(message.get("result"))})
    end(name, turn, "completed" if message.get("result") == {"decision": "accept"} else "failed")


def interrupt(params: dict[str, Any]) -> dict[str, Any]:
    for turn in thread(params)["turns"]:
        if turn["id"] == params["turnId"] and turn["status"] == "inProgress":
            end(params["threadId"], turn, "interrupted")
            return {}
    raise LookupError("no active turn to interrupt")


def fork(params: dict[str, Any]) -> dict[str, Any]:
    if MODE == "lenient":
        THREADS.setdefault(params["threadId"], {"cwd": "/", "turns": [], "model": "fake-model"})
    source = thread(params)
    if MODE == "internal":
        raise LookupError("disk full")
    turns = source["turns"][: cut(source["turns"], params)]
    if MODE == "clips":
        turns = turns[:-1]
    if MODE == "renumber":
        # Its listing alone tells which is which.
        turns = [t | {"id": str(uuid.uuid4())} for t in turns]
    name = str(uuid.uuid4())
    THREADS[name] = {"cwd": params.get("cwd") or source["cwd"], "turns": list(turns), "model": "fake-model"}
    THREADS[name].update({key: params[key] for key in ("model", "approvalPolicy", "sandbox") if key in params})
    SOURCES[name] = params["threadId"]
    return state(name, params["threadId"])


def cut(turns: list[dict[str, Any]], params: dict[str, Any]) -> int:
    wanted = params.get("beforeTurnId") or params.get("lastTurnId")
    if wanted is None:
        return len(turns)
    for place, turn in enumerate(turns):
        if turn["id"] == wanted:
            if "lastTurnId" not in params:
                return place
            if turn["status"] == "inProgress":
                raise LookupError(f"lastTurnId '{wanted}' identifies an in-progress turn")
            return place + 1
    if MODE == "lenient":
        return len(turns)
    raise LookupError(f"turn not found: {wanted}")


def listed(params: dict[str, Any]) -> dict[str, Any]:
    """One turn a page, so that a client that reads only the first page is found out."""
    turns = thread(params)["turns"]
    place = int(params.get("cursor") or 0)
    following = str(place + 1) if place + 1 < len(turns) else None
    return {"data": turns[place : place + 1], "nextCursor": following}


def settings(params: dict[str, Any]) -> dict[str, Any]:
    thread(params).update({key: params[key] for key in params if key != "threadId"})
    send({"method": "thread/settings/updated", "params": {"threadId": params["threadId"]}})
    return {}


def queue(params: dict[str, Any]) -> dict[str, Any]:
    thread(params).setdefault("queue", []).append(params)
    return {"queuedSubmission": {"id": "q"}}


def revert(params: dict[str, Any]) -> dict[str, Any]:
    turns = thread(params)["turns"]
    del turns[cut(turns, params) :]
    return {"thread": {"id": params["threadId"]}}


def resume(params: dict[str, Any]) -> dict[str, Any]:
    thread(params)
    return state(params["threadId"])


def delete(params: dict[str, Any]) -> dict[str, Any]:
    thread(params)
    del THREADS[params["threadId"]]
    return {}


def threads(_params: dict[str, Any]) -> dict[str, Any]:
    return {"data": [{"id": name, "name": None, "preview": f"about {name}"} for name in THREADS]}


def read(params: dict[str, Any]) -> dict[str, Any]:
    thread(params)
    return {"thread": {"id": params["threadId"], "forkedFromId": SOURCES.get(params["threadId"])}}


SIMPLE = {
    "thread/settings/update": settings,
    "turn/steer": steer,
    "thread/queue/add": queue,
    "thread/revert": revert,
    "thread/resume": resume,
    "thread/delete": delete,
    "thread/list": threads,
    "thread/read": read,
}


if __name__ == "__main__":
    main()
