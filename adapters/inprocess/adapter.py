"""The in-process route: the in-memory reference behind the adapter protocol. Source: design section 5.

It translates and decides nothing: operations to the harness's methods, model replies to its seam, records to fields.
All that the reference states, it states itself, so every field of its fork record is reported.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Any, Final

from forkproof.adapters.choice import Choice
from forkproof.adapters.errors import NotInstalled, StartFailed
from forkproof.adapters.inprocess import delegation, durable, tree
from forkproof.adapters.inprocess.authority import HookSeam, PersonSeam
from forkproof.adapters.inprocess.handlers import HANDLERS
from forkproof.adapters.inprocess.seam import ModelSeam
from forkproof.adapters.inprocess.world import MemoryWorld
from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import Answer, Description, Kind, NativeCall, Operation, ToolUse, Trial, Unsupported
from forkproof.reference.harness import Harness
from forkproof.reference.machine import Machine
from forkproof.reference.rules import RULES, Rules
from forkproof.reference.semantics import CONTRACT, Semantics

__all__ = ["CAPABILITIES", "ReferenceAdapter", "create"]

CAPABILITIES: Final = frozenset({
    "attachments", "provider.conversation", "provider.remote", "thinking.encrypted", "thinking.signed",
    "approvals", "approvals.always", "approvals.session", "hooks.before-fork", "hooks.start", "settings",
    "settings.fork", "settings.tools",
    "crash", "delete", "delete.turns", "fork.retry", "restart", "resume",
    "branch", "branch.summary", "cancel", "clone", "compact", "edit-context", "entries", "fork.after", "fork.at",
    "fork.before", "queue", "steer",
    "fork.editor", "fork.head", "fork.points", "history", "import", "import.tree", "label", "rewind", "sessions",
    "tree", "tool.count", "tool.edit",
    "tool.read", "tool.run", "tool.together", "tool.background", "tool.wait", "tool.write", "workspace.isolated",
}) | delegation.CAPABILITIES  # fmt: skip
"""All that the reference can do, in the names that a trace's `needs` uses."""


_ALL: Final = {**HANDLERS, **tree.HANDLERS, **durable.HANDLERS, **delegation.HANDLERS}


def create(choice: Choice | None = None) -> ReferenceAdapter:
    """A fresh adapter of the reference. Raises `NotInstalled` for any version but the installed one."""
    version = choice.version if choice else None
    if version not in (None, _version()):
        raise NotInstalled(f"the reference is part of forkproof {_version()}, there is no version {version}")
    return ReferenceAdapter()


@cache
def _version() -> str:
    try:
        return installed_version("forkproof")
    except PackageNotFoundError:
        return "0"


def _seams(trial: Trial) -> dict[str, Any]:
    """The person and the hooks of a trial, for a harness that asks the one and runs the others."""
    if trial.person is None:
        return {}
    return {"person": PersonSeam(trial.person), "hooks": HookSeam(trial.person, trial.hooks)}


class ReferenceAdapter:
    """Drives a reference harness, by default with the contract's semantics and rules.

    `harness` and `chosen` are for faults: another class than the reference's own, and choices other than those that
    `semantics` declares.
    """

    needs_server = False

    def __init__(
        self,
        semantics: Semantics = CONTRACT,
        rules: Rules = RULES,
        name: str = "reference",
        *,
        harness: type[Harness] = Harness,
        chosen: Semantics | None = None,
    ) -> None:
        self._semantics = semantics
        self._chosen = semantics if chosen is None else chosen
        self._class = harness
        self._rules = rules
        self._name = name
        self._running: Harness | None = None

    def describe(self) -> Description:
        """What the reference is, and the policies that its semantics chooses."""
        return Description(
            harness=self._name,
            version=_version(),
            wire="in-process",
            capabilities=CAPABILITIES,
            policies={
                "busy_source": self._semantics.busy_source,
                "call_group": self._semantics.call_group,
                "cache_key": self._semantics.cache_key,
                "retained_turns": str(self._semantics.retained_turns),
                "settings_source": self._semantics.settings_source,
                "grants": "fresh",
                **delegation.POLICIES,
            },
            route="in-process",
        )

    async def start(self, trial: Trial) -> MemoryWorld:
        """Make a fresh harness on a machine of its own."""
        machine = Machine()
        self._running = self._class(
            ModelSeam(trial.model, self.native_call),
            machine,
            semantics=self._chosen,
            rules=self._rules,
            keeping=trial.keeping,
            **_seams(trial),
        )
        return MemoryWorld(machine)

    async def perform(self, operation: Operation) -> Answer:
        """Carry out one operation. Raises `StartFailed` before `start`."""
        handler = _ALL.get(type(operation))
        if handler is None:
            return Unsupported(f"the reference has no {type(operation).__name__}")
        return await handler(self._harness(), operation)

    def native_call(self, use: ToolUse) -> NativeCall:
        """The abstract tool itself: the reference has no other tools."""
        return NativeCall(use.tool, use.arguments)

    def classify(self, prompt: Prompt) -> Kind | None:
        """The reference tags its requests for summaries; all others are those of turns."""
        return "summary" if prompt.settings.get("purpose") == "summary" else "turn"

    def diagnostics(self) -> str:
        """Nothing: there is no process."""
        return ""

    async def stop(self) -> None:
        """End what is under way; the sessions go with the harness."""
        harness, self._running = self._running, None
        if harness is not None:
            await harness.close()

    def _harness(self) -> Harness:
        if self._running is None:
            raise StartFailed("the reference was not started", "call start() first")
        return self._running
