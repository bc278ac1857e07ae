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
    "entries": "listing all entries of a session, with ids that are cursors",
    "tree": "reading all entries of a session as a forest, with their labels",
    "history": "reading the conversation that a session shows",
    "fork.points": "listing the points that a session can be forked at",
    "sessions": "listing the sessions that a person can open",
    "compact": "replacing old history by a summary, when asked to",
    "cancel": "interrupting a turn that runs",
    "steer": "speaking into a turn that runs",
    "queue": "holding a message for after the turn that runs",
    "resume": "opening a stored session again",
    "restart": "keeping sessions over an end of the process",
    "crash": "dying over a fork at a chosen point, to show what is left of it",
    "delete": "deleting a session",
    "delete.turns": "deleting single turns of a session",
    "fork.retry": "telling a fork that is asked for once more from another one",
    "delegate": "a scope of work inside a conversation, with a thread of its own",
    "fold": "bringing the outcome of a scope into the main conversation",
    "label": "naming an entry",
    "edit-context": "changing what the model is shown of an earlier entry",
    "approvals": "permission modes, and asking the person before a tool runs where the mode says so",
    "approvals.session": "an approval for all calls of a kind in one session",
    "approvals.always": "an approval for all calls of a kind in every session",
    "settings": "choosing model and reasoning level of a session, when it is opened and later",
    "settings.fork": "settings given with a fork, which win over the source's",
    "settings.tools": "choosing the tools that a session has",
    "hooks.start": "programs of the person that run when a session starts, and may give the model a context",
    "hooks.before-fork": "programs of the person that run before a fork, and may cancel it",
    "import": "starting a session from a history with chosen ids and times",
    "import.tree": "starting a session from stored entries in any order and with any parents",
    "workspace.isolated": "a fork with a copy of the workspace, of its own or made by the suite",
    "restore": "putting files back as they were before a turn",
    "state": "telling a session's todo list, wake-ups and usage",
    "workspace.copy": "an isolated fork whose workspace the harness copies itself",
    "provider.remote": "states of a conversation that the provider keeps, each continued by an id of its own",
    "provider.conversation": "a growing conversation that the provider keeps under one id",
    "thinking.signed": "thinking with a signature, which a provider takes back only as it was",
    "thinking.encrypted": "thinking in an encrypted form, which only whoever made it can read",
    "attachments": "files that a person attaches to a message",
    "tool.write": "a tool that writes a whole file",
    "tool.edit": "a tool that replaces a text in a file",
    "tool.read": "a tool that reads a file",
    "tool.run": "a tool that runs a command",
    "tool.wait": "a command that waits until it is let go or killed",
    "tool.count": "a command that counts its own runs",
    "tool.agent": "a tool that gives a task to a child agent",
    "tool.tell": "a tool that gives a further message to a child agent",
    "tool.todo": "a tool that keeps a todo list",
    "tool.memory": "a tool that remembers something",
    "tool.schedule": "a tool that sets a wake-up",
    "tool.background": "a command that starts a process and leaves it running",
    "tool.together": "several tool calls in one answer of the model",
}
"""Capability -> what a harness can do that declares it."""

POLICIES: Mapping[str, Mapping[str, str]] = {
    "cache_key": {
        "shared": "a fork sends the cache key of its source, since they share a beginning",
        "own": "each session sends a cache key of its own",
        "none": "no cache key is sent",
    },
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
    "snapshot_holds": {
        "all": "an isolated workspace starts with every file, also uncommitted and untracked ones",
        "committed": "an isolated workspace starts with what is committed",
    },
    "settings_source": {
        "cut": "a child's settings are those that its source had at the cut",
        "latest": "a child's settings are those that its source has when it is forked",
    },
    "grants": {
        "fresh": "an approval for a session does not hold for its children",
        "carried": "it holds for the children too, and the record lists it",
    },
    "retained_turns": {
        "0": "a compaction covers every turn",
        "1": "a compaction keeps the newest turn word for word, where it covers at least one",
    },
    "memory_scope": {
        "path": "what the model remembers belongs to the path on which it was told to",
        "shared": "what the model remembers is shared by all sessions, and the record says so",
    },
    "restore_shared": {
        "limit": "in a shared workspace only what nobody else changed meanwhile is put back",
        "refuse": "in a shared workspace no file is put back",
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
    "memories": "memories that are shared with the child (STA-4)",
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

PLANNED = frozenset({"time", "turns", "records"})
"""Words of the design's language (section 3) that version 1 does not read yet, to say so in place of `unknown key`."""
