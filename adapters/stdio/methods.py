"""The methods of the open protocol, version 1: one table of all that either side may ask. Source: design section 5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from forkproof.adapters import busy, durable, operations, side, tree
from forkproof.adapters.answers import Acknowledged, Forked, SessionOpened, TurnEnded
from forkproof.adapters.authority import Configure, HookRun, HookSaid, Question
from forkproof.adapters.exchange import NativeCall
from forkproof.adapters.protocol import Answer, Operation, Refused, Unknown, Unsupported
from forkproof.adapters.readings import CutPointsRead, EntriesRead, HistoryRead, Moved, SessionsRead, TreeRead
from forkproof.adapters.stdio import messages as m
from forkproof.adapters.stdio.decode import WireError, decode
from forkproof.adapters.stdio.wire import KINDS

__all__ = ["CANCEL", "METHODS", "OPERATIONS", "UNBOUNDED", "Method", "answer"]

CANCEL: Final = "$/cancelRequest"
"""A notification of either side, `{"id": ...}`: nobody waits for the answer to that request any more."""


class Method(NamedTuple):
    """One method: who asks, what it takes, what it gives, and whether it carries an operation."""

    asked_by: Literal["suite", "adapter"]
    params: type
    result: type
    operation: bool = False


def _life(params: type, result: type) -> Method:
    return Method("suite", params, result)


def _operation(params: type, result: type) -> Method:
    return Method("suite", params, result, operation=True)


def _of_adapter(params: type, result: type) -> Method:
    return Method("adapter", params, result)


METHODS: Final[Mapping[str, Method]] = {
    "initialize": _life(m.Initialize, m.Initialized),
    "describe": _life(m.Nothing, m.Described),
    "start": _life(m.Start, m.Done),
    "stop": _life(m.Nothing, m.Done),
    "nativeCall": _life(m.AskNative, NativeCall),
    "classify": _life(m.Classify, m.Classified),
    "session/open": _operation(operations.OpenSession, SessionOpened),
    "session/import": _operation(operations.Import, SessionOpened),
    "session/prompt": _operation(operations.SendPrompt, TurnEnded),
    "session/cancel": _operation(operations.Cancel, Acknowledged),
    "session/compact": _operation(operations.Compact, Acknowledged),
    "session/fork": _operation(operations.Fork, Forked),
    "session/configure": _operation(Configure, Acknowledged),
    "session/steer": _operation(busy.Steer, Acknowledged),
    "session/queue": _operation(busy.Queue, Acknowledged),
    "session/await": _operation(busy.AwaitQueued, TurnEnded),
    "session/resume": _operation(durable.Resume, SessionOpened),
    "session/delete": _operation(durable.Delete, Acknowledged),
    "session/branch": _operation(tree.Branch, Moved),
    "session/rewind": _operation(tree.Rewind, Moved),
    "session/clone": _operation(tree.Clone, Forked),
    "session/label": _operation(tree.SetLabel, Acknowledged),
    "session/editContext": _operation(tree.EditContext, Acknowledged),
    "session/entries": _operation(tree.ReadEntries, EntriesRead),
    "session/tree": _operation(tree.ReadTree, TreeRead),
    "session/history": _operation(tree.ReadHistory, HistoryRead),
    "session/cutPoints": _operation(tree.ReadCutPoints, CutPointsRead),
    "session/list": _operation(tree.ListSessions, SessionsRead),
    "session/delegate": _operation(side.Delegate, side.ScopeOpened),
    "session/putBack": _operation(side.PutBack, side.FilesPutBack),
    "session/state": _operation(side.ReadState, side.StateRead),
    "scope/fold": _operation(side.Fold, Acknowledged),
    "time/advance": _operation(side.Advance, Acknowledged),
    "harness/restart": _operation(durable.Restart, Acknowledged),
    "world/create": _life(m.CreateDirectory, m.DirectoryRef),
    "world/reserve": _life(m.ReserveDirectory, m.DirectoryRef),
    "world/copy": _life(m.CopyDirectory, m.Done),
    "world/write": _life(m.WriteFiles, m.Done),
    "world/block": _life(m.DirectoryRef, m.Done),
    "world/read": _life(m.DirectoryRef, m.Files),
    "world/started": _life(m.CallRef, m.Done),
    "world/release": _life(m.CallRef, m.Done),
    "world/processes": _life(m.Nothing, m.Counts),
    "world/runs": _life(m.Nothing, m.Counts),
    "model/respond": _of_adapter(m.Respond, m.Reply),
    "model/released": _of_adapter(m.StallRef, m.Done),
    "person/permit": _of_adapter(Question, m.Decided),
    "person/hook": _of_adapter(HookRun, HookSaid),
    "workspace/copy": _of_adapter(m.CopyDirectory, m.Done),
}
"""Every method by its name."""

OPERATIONS: Final[Mapping[type, str]] = {each.params: name for name, each in METHODS.items() if each.operation}
"""The method of each operation of the seam."""

UNBOUNDED: Final = frozenset({
    "session/prompt", "session/await", "session/compact", "session/fork", "session/branch", "time/advance",
})  # fmt: skip
"""Operations that a trace may hold open: whoever plays it has a deadline of its own for them."""

_OTHER_ENDS: Final = {KINDS[kind].value: kind for kind in (Refused, Unsupported, Unknown)}


def answer(operation: Operation, result: Any) -> Answer:
    """The answer to an operation. Raises `WireError`, which names the member that is wrong."""
    wanted = METHODS[OPERATIONS[type(operation)]].result
    if not isinstance(result, Mapping):
        raise WireError(f"an object is expected, not {result!r:.80}")
    outcome = result.get("outcome", "done")
    if outcome == "done":
        found: Answer = decode(wanted, {key: each for key, each in result.items() if key != "outcome"})
        return found
    if not isinstance(outcome, str) or outcome not in _OTHER_ENDS:
        raise WireError(f"one of done, {', '.join(_OTHER_ENDS)} is expected, not {outcome!r:.80}", "outcome")
    other: Answer = decode(_OTHER_ENDS[outcome], result)
    return other
