"""A route: a line in, lines out."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from faults import Fault, write
from sessions import Json, Model, Sessions

LOCK = threading.Lock()


class Route:
    """What all have in common: a line in, lines out."""

    phases: ClassVar[dict[str, str]]

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        fault.dress = self.dress
        self.reach(self.model())
        self.opened = 0

    def model(self) -> Model:
        """The model as the environment or a configuration tells of it."""
        raise NotImplementedError

    def reach(self, model: Model) -> None:
        """Work with this model."""
        self.sessions = Sessions(model)
        self.fault.ask = lambda: model.request(model.connect(), [("user", "stall")], stream=True)

    def dress(self, message: Json) -> Json:
        """The message in the form of the protocol."""
        return {"jsonrpc": "2.0", **message}

    def send(self, **message: Any) -> None:
        line = self.fault.line(**message)
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
