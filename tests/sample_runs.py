"""Runs made up for the tests of reports: the same events each time, without any harness."""

from __future__ import annotations

from typing import Any

from forkproof.reports.events import (
    AdapterStamp,
    Checked,
    ContractStamp,
    Event,
    HarnessStamp,
    KnownDeviation,
    Note,
    Observed,
    RunEnded,
    RunStarted,
    TraceError,
    TraceSetStamp,
    TraceStarted,
    Verdict,
)
from forkproof.reports.matrix import ClauseText
from forkproof.reports.tally import counts

CLAUSES = {
    clause.id: clause
    for clause in (
        ClauseText(
            "REC-1",
            "Fork record and lineage",
            "A fork returns a record that names the new session, its immediate source and the cut that was applied.",
        ),
        ClauseText(
            "CUT-1",
            "Cut boundary",
            "The child's requests, first and later, hold the prefix up to the cut and nothing from after it.",
        ),
        ClauseText("CUT-5", "Cut boundary", "An unknown cut point is refused; nothing is made."),
        ClauseText("ISO-1", "Isolation", "A fork leaves the source's next prompt as it was."),
        ClauseText("ENV-2", "Workspace", "A shared workspace shows the files as they are now, whatever the cut."),
    )
}
CRASH = TraceError(
    code="harness-died",
    cause="codex app-server ended in the middle of turn `retry` (exit status 101)\nthread 'main' panicked",
    hint="`forkproof harness doctor codex` looks for the cause",
    verdict="CRASH",
)
COST = {"seconds": 12.34, "cpu_self": 0.91, "cpu_ratio": 0.0737, "peak_rss_mb": 88.4}


def started(traces: int = 3, **volatile: Any) -> RunStarted:
    """The header of a run of Codex."""
    return RunStarted(
        suite="0.1.0",
        contract=ContractStamp(revision="1", sha256="c0" * 32),
        traces=TraceSetStamp(count=traces, sha256="7a" * 32),
        harness=HarnessStamp(name="codex", version="0.171.0", binary_sha256="b1" * 32),
        adapter=AdapterStamp(
            route="app-server",
            wire="openai-responses",
            capabilities=["tool.write", "fork.before"],
            policies={"busy_source": "refuse"},
        ),
        seed=7,
        volatile=volatile or {"started": "2025-11-30T12:00:00+00:00", "python": "3.11.7", "platform": "linux"},
    )


def check(trace: str, clause: str, verdict: Verdict = "PASS", **members: Any) -> Checked:
    """One verdict, with a witness if it passed."""
    given: dict[str, Any] = {
        "id": f"{trace}::{clause}",
        "trace": trace,
        "clause": clause,
        "level": "MUST",
        "step": 3,
        "verdict": verdict,
        "witness": {"request": 3, "items": 5} if verdict == "PASS" else {},
        "fingerprint": "" if verdict == "PASS" else "3f9a61c27b04",
        "replay": f"forkproof run codex {trace}::{clause} --seed 7",
        "file": f"traces/{trace}.yaml",
        "line": 24,
    }
    return Checked(**(given | members))


def item(name: str, role: str, **more: str) -> dict[str, str]:
    """One item of a prompt, as the judge gives it."""
    return {"item": name, "role": role} | more


def prompt_failure(**members: Any) -> Checked:
    """A child that remembers what came after the cut."""
    after = {"label": "leaked from after the cut of main"}
    kept = [item("plan.user", "user", label="inherited"), item("plan.say", "assistant", label="inherited")]
    seen = [
        *kept,
        item("write.user", "user", **after),
        item("edit.call", "assistant", **after),
        item("edit.result", "tool", status="done", **after),
        item("retry.user", "user", label="own"),
    ]
    expected = [item("plan.user", "user"), item("plan.say", "assistant"), item("retry.user", "user")]
    return check(
        "cut/edit-then-fork-shared",
        "CUT-1",
        "FAIL",
        reason="write.user, edit.call and edit.result leaked from after the cut of main",
        expected={"prompt": expected},
        seen={"prompt": seen},
        witness={"request": 4, "items": 6},
        **members,
    )


def of_trace(trace: str, *checks: Checked, error: TraceError | None = None) -> list[Event]:
    """The events of one trace."""
    status: Any = "ended" if error else "played"
    seen = Observed(
        trace=trace,
        status=status,
        error=error,
        files={"main": {"notes.md": "draft\n"}},
        volatile={"seconds": 0.4},
    )
    return [TraceStarted(trace=trace), seen, *checks]


def ended(events: list[Event], code: int, **members: Any) -> RunEnded:
    """The footer that belongs to these events."""
    tally = counts(e for e in events if isinstance(e, Checked))
    return RunEnded(counts={str(v): n for v, n in tally.items()}, exit=code, volatile=COST, **members)


def whole(events: list[Event], code: int) -> list[Event]:
    """Header, events and footer."""
    traces = sum(isinstance(e, TraceStarted) for e in events)
    return [started(traces), *events, ended(events, code)]


def green() -> list[Event]:
    """Three traces, all well; one check does not apply."""
    return whole(
        [
            *of_trace("cut/after-the-last-turn", check("cut/after-the-last-turn", "CUT-1")),
            *of_trace(
                "cut/edit-then-fork-shared",
                check("cut/edit-then-fork-shared", "REC-1"),
                check("cut/edit-then-fork-shared", "CUT-1"),
                check("cut/edit-then-fork-shared", "ENV-2"),
            ),
            *of_trace(
                "iso/source-unchanged",
                check("iso/source-unchanged", "ISO-1"),
                check("iso/source-unchanged", "CUT-5", "NOT_APPLICABLE", reason="codex does not declare fork.after"),
            ),
        ],
        0,
    )


def red() -> list[Event]:
    """Failures of every shape: a prompt, files, a record; and a SHOULD."""
    trace = "cut/edit-then-fork-shared"
    return whole(
        [
            *of_trace("cut/after-the-last-turn", check("cut/after-the-last-turn", "CUT-1")),
            *of_trace(
                trace,
                check(
                    trace,
                    "REC-1",
                    "FAIL",
                    reason="cut is not reported by the harness, only derived; edge is nowhere in the record",
                    expected={"record": {"source": "main", "cut": {"before": "write"}, "edge": "fork"}},
                    seen={
                        "record": {
                            "source": "main",
                            "cut": {"value": {"before": "write"}, "origin": "derived"},
                            "edge": {"value": None, "origin": "absent"},
                        }
                    },
                ),
                prompt_failure(line=31),
                check(
                    trace,
                    "ENV-2",
                    "FAIL",
                    reason="parser.py has other content; scratch.txt should not be there",
                    expected={"files": {"notes.md": "draft\n", "parser.py": "v1\nend\n"}},
                    seen={"files": {"notes.md": "draft\n", "parser.py": "v2 \nend", "scratch.txt": "\x1b[31mred\n"}},
                    witness={"file": "parser.py"},
                    line=35,
                ),
            ),
            *of_trace(
                "iso/source-unchanged",
                check("iso/source-unchanged", "ISO-1", "WARN", level="SHOULD", reason="the title is not its own"),
                check(
                    "iso/source-unchanged",
                    "CUT-5",
                    "FAIL",
                    reason="the fork was not refused (done)",
                    expected={"refused": {"refused": "unknown-cut"}},
                    seen={"refused": {"outcome": "done"}},
                ),
            ),
            Note(level="warning", text="codex shows `compact` and does not declare it"),
        ],
        1,
    )


def crashed() -> list[Event]:
    """A harness that dies in two traces alike, and a check without its precondition."""
    first, second, third = "cut/after-the-last-turn", "cut/edit-then-fork-shared", "iso/source-unchanged"
    return whole(
        [
            *of_trace(first, check(first, "CUT-1", "CRASH"), check(first, "REC-1"), error=CRASH),
            *of_trace(second, check(second, "CUT-1", "CRASH"), check(second, "ENV-2", "CRASH"), error=CRASH),
            *of_trace(
                third,
                check(third, "ISO-1", "UNTESTABLE", reason="the control run shows no next prompt of session main"),
            ),
        ],
        2,
    )


def baselined() -> list[Event]:
    """A known deviation, one that fails in another way than it is known to, one that is healed, and a race won once."""
    url = "https://github.com/openai/codex/issues/21025"
    known = KnownDeviation(reason="the record names no cut", url=url)
    trace = "cut/edit-then-fork-shared"
    return whole(
        [
            *of_trace(
                trace,
                check(trace, "REC-1", "XFAIL", reason="cut is nowhere in the record", baseline=known),
                check(trace, "ENV-2", baseline=KnownDeviation(reason="a kill may come first", sometimes="3 of 8")),
                prompt_failure(baseline=KnownDeviation(reason="the child keeps the cancelled call")),
            ),
            *of_trace(
                "iso/source-unchanged",
                check("iso/source-unchanged", "ISO-1", "XPASS", baseline=KnownDeviation(reason="a shared list")),
            ),
            Note(level="error", text="the baseline names cut/gone::CUT-1, which is no check of this run"),
        ],
        1,
    )
