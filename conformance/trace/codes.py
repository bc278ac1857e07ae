"""The linter's codes: what is wrong, why it matters and how to mend it. One table; codes never change their meaning.

`forkproof explain FPL001` prints an entry; docs/trace-language.md lists them all, and a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["RULES", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of problem: its stable code, its name in a few words, and what to do about it."""

    code: str
    title: str
    advice: str


_TABLE = (
    # The file.
    Rule("FPL001", "unreadable file", "A trace is a UTF-8 text file of at most 4 MiB without control characters."),
    Rule(
        "FPL002", "not YAML", "Quote a text that holds a colon and a space, or begins with a sign such as @ % & * > {."
    ),
    Rule(
        "FPL003",
        "YAML that traces don't use",
        "Anchors, aliases, tags, several documents and keys that are no texts are left out of the language: "
        "a reader must see a step's whole meaning in its place.",
    ),
    Rule("FPL004", "duplicate key", "The second value would silently replace the first; keep one."),
    Rule(
        "FPL005",
        "no value",
        "A key without a value says nothing. In flow style, `{say: Fine, thanks.}`, a comma splits a text: "
        "quote it, or write it in block style.",
    ),
    Rule(
        "FPL006", "too deep or too large", "A trace nests at most 50 levels and holds at most 500,000 keys and values."
    ),
    # The form.
    Rule("FPL010", "not of the language's form", "`forkproof schema trace` prints the JSON Schema of a trace."),
    Rule("FPL011", "unknown key", "Most often a slip, or a word of a later version of the language."),
    Rule("FPL012", "missing key", "The position is that of the part that lacks the key."),
    # Names.
    Rule("FPL020", "unknown clause", "`forkproof list clauses` prints the clauses that an expectation can prove."),
    Rule(
        "FPL021",
        "unknown name",
        "A session, turn, call, compaction or counter of that name is nowhere in the trace. "
        "Write `{unknown: NAME}` where a name is meant to stand for nothing.",
    ),
    Rule(
        "FPL022", "forward reference", "A step can only speak of what came before it; move the step, or the reference."
    ),
    Rule("FPL023", "duplicate name", "Sessions, turns, calls and compactions share one set of names within a trace."),
    Rule(
        "FPL024",
        "session that may not exist",
        "The fork that makes this session is refused, or left out under a policy. "
        "Give the step the `unless` that covers the case.",
    ),
    Rule("FPL025", "unknown source", "`from` names `seed 000`, a report such as `codex-9042`, or `design 9`."),
    # Capabilities and policies.
    Rule(
        "FPL030",
        "unknown capability",
        "`forkproof explain` knows the capabilities; the list is in conformance/vocabulary.py.",
    ),
    Rule(
        "FPL031",
        "capability used and not declared",
        "Without it in `needs`, a harness that lacks the capability fails the trace in place of being excused.",
    ),
    Rule("FPL032", "capability declared and not used", "It would excuse harnesses from a trace that they could play."),
    Rule(
        "FPL033", "unknown policy or choice", "Only policies that the contract leaves open can select an expectation."
    ),
    Rule(
        "FPL034",
        "policy choices left out",
        "Where `when` selects an expectation, the step spells out every other choice too, "
        "or leaves itself out by `unless`.",
    ),
    # Checks.
    Rule("FPL040", "trace that checks nothing", "Give at least one step an `expect`."),
    Rule("FPL041", "check that can't fail", "Whatever the harness does, it holds: it proves nothing."),
    Rule("FPL042", "check that can't pass", "It contradicts the trace itself."),
    Rule(
        "FPL043",
        "expectation that does not fit its step",
        "For example a stop reason at a fork, or a prompt at a check.",
    ),
    Rule(
        "FPL044", "unknown record field", "The fields of a fork record are those of the adapter protocol's ForkRecord."
    ),
    Rule(
        "FPL045",
        "check that no mutant can fail",
        "It passes whatever the reference does wrong: drop it, or write the mutant that it is there for. "
        "Told by `forkproof lint --mutants` only.",
    ),
    # Files and commands.
    Rule("FPL050", "path that leaves the workspace", "Paths are relative, with `/` between plain names and no `..`."),
    Rule("FPL051", "command outside the vocabulary", "`run` takes pwd, ls, true, false, echo WORDS, rm, mkdir or mv."),
    # The story.
    Rule("FPL060", "turn that never ends", "A waiting call is let go by `release` and `await`, or ended by `cancel`."),
    Rule(
        "FPL061", "nothing to wait for", "`until`, `release` and `await` belong to a `wait` call of a turn in flight."
    ),
    Rule(
        "FPL062", "model that leaves its turn open", "After its last call the model must still say something, or fail."
    ),
    Rule("FPL063", "session busy, or nothing to cancel", "A session runs one turn at a time."),
    Rule("FPL064", "session that is only stored", "After a `restart` a session acts again only after a `resume`."),
    Rule("FPL065", "process that died and is not restarted", "Behind a fork with `dies` stands a `restart: kill`."),
    # Several files.
    Rule(
        "FPL070",
        "file name that makes no slug",
        "Folders and files: lower-case letters, digits and hyphens, then .yaml.",
    ),
    Rule("FPL071", "duplicate slug", "Two files would give their checks the same ids."),
)

RULES: Mapping[str, Rule] = {rule.code: rule for rule in _TABLE}
"""Every rule by its code, in order."""
