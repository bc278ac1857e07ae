"""The words that traces and adapters share: capabilities, policies, record fields, commands. One table for each.

Sources: design sections 3 and 5, and the contract's clauses where a policy or field is named in them.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CAPABILITIES", "COMMANDS", "PLANNED", "POLICIES", "RECORD_FIELDS"]

CAPABILITIES: Mapping[str, str] = {
    "fork.before": "a fork whose cut lies before a turn's user message",
    "fork.after": "a fork whose cut lies after a turn's last item",
    "fork.head": "a fork of all that the source holds",
    "fork.at": "a fork whose cut is any entry, by its id",
    "fork.time": "a fork whose cut is a moment",
    "fork.editor": "a fork before a user message gives back that message's text for editing",
    "branch": "moving within a session to an earlier entry",
    "branch.summary": "leaving a branch with a summary of it",
    "clone": "copying the active path to a new session",
    "rewind": "taking the last turns off a session",
    "compact": "replacing old history by a summary, when asked to",
    "cancel": "interrupting a turn that runs",
    "steer": "speaking into a turn that runs",
    "queue": "holding a message for after the turn that runs",
    "resume": "opening a stored session again",
    "restart": "keeping sessions over an end of the process",
    "delegate": "giving a task to a child agent or scope",
    "fold": "bringing the outcome of a scope into the main conversation",
    "label": "naming an entry",
    "edit_context": "changing what the model is shown of an earlier entry",
    "approvals": "asking the person before a tool runs",
    "settings": "choosing model, reasoning level or mode per session",
    "import": "starting a session from a history with chosen ids and times",
    "workspace.isolated": "a fork with a copy of the workspace, of its own or made by the suite",
    "provider.remote": "a conversation that the provider keeps, continued by its id",
    "tool.write": "a tool that writes a whole file",
    "tool.edit": "a tool that replaces a text in a file",
    "tool.read": "a tool that reads a file",
    "tool.run": "a tool that runs a command",
    "tool.wait": "a command that waits until it is let go or killed",
    "tool.count": "a command that counts its own runs",
    "tool.together": "several tool calls in one answer of the model",
}
"""Capability -> what a harness can do that declares it."""

POLICIES: Mapping[str, Mapping[str, str]] = {
    "busy_source": {
        "refuse": "forking a session whose turn runs is refused",
        "wait": "the fork waits for the turn's end",
        "last-committed": "the fork takes what was complete before the turn that runs",
        "interrupt": "the fork takes the turn as far as it came, as an interrupted one",
    },
    "call_group": {
        "refuse": "a cut inside a group of parallel calls is refused",
        "before": "it moves to the last place before the group's calls",
        "after": "it moves to the place behind the group's last result",
        "repair": "it stays, and the results that it leaves out are shown as unknown",
    },
}
"""Policy -> choice -> what it means. These are the points that the contract leaves open (clauses SNAP-4, TOOL-7)."""

RECORD_FIELDS: Mapping[str, str] = {
    "session": "the new session",
    "source": "the immediate source (REC-1, REC-3)",
    "cut": "the cut that was applied: {before: TURN}, {after: TURN} or {head: true} (REC-1, REC-6)",
    "revision": "the source revision that was frozen (REC-9)",
    "settings": "the inherited settings, each with its origin (REC-7)",
    "checkpoint": "the compaction that the child starts from, or none (REC-10)",
    "directory": "where the child's tools run (REC-8)",
    "workspace": "shared, isolated or other (REC-8)",
    "snapshot": "what an isolated copy holds (ENV-5)",
    "edge": "the kind of lineage edge (REC-4)",
    "grants": "approvals that were carried over (AUT-1)",
    "editor": "the text that is put back for editing (RD-6)",
}
"""Field of a fork record -> what it says."""

COMMANDS: Mapping[str, tuple[int, int]] = {
    "pwd": (0, 0),
    "ls": (0, 0),
    "true": (0, 0),
    "false": (0, 0),
    "echo": (1, 50),
    "rm": (1, 1),
    "mkdir": (1, 1),
    "mv": (2, 2),
}
"""Command of the `run` tool -> the least and the most words that follow it."""

_STEPS = "branch clone rewind resume restart set approve deny label edit_context delegate fold"
_STEP_KEYS = "user_edits together time to summary settings answers task turns role"
_MODEL_STEPS = "think stall drop"
_EXPECTATIONS = (
    "asked history entries entries_have entry paths sessions records effective_prompt continues remote_writers "
    "provider summarized"
)
PLANNED = frozenset(f"{_STEPS} {_STEP_KEYS} {_MODEL_STEPS} {_EXPECTATIONS}".split())
"""Words of the design's language (section 3) that version 1 does not read yet, to say so in place of `unknown key`."""
