"""Play every harness that has a file of deviations, publish the runs, and renew docs/findings.md.

`python tests/tools/publish_all.py [--only WORD] [--work DIR] [--jobs N] [--reuse]`, in the checkout, with the harnesses
installed. Each file of deviations is one run: its harness, releases and variant stand in it, a wire format that is not
the default one in its name. The reference comes first: it shows that the contract can be met. What can't be published
is told, the others are published all the same; then the exit code is 1. `--reuse` publishes runs that are complete in
DIR already.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forkproof.adapters import registry
from forkproof.adapters.errors import AdapterError
from forkproof.conformance.published import deviations_in, wire_of
from forkproof.reports.runlog import RunLogError, read

ROOT = Path(__file__).parents[2]
FORKPROOF = str(Path(sys.executable).with_name("forkproof"))


@dataclass(frozen=True)
class Plan:
    """One run to publish: what `forkproof run` is asked for, and its known deviations, if it may have any."""

    words: tuple[str, ...]
    baseline: Path | None = None

    @property
    def known(self) -> list[str]:
        return [] if self.baseline is None else ["--baseline", str(self.baseline)]

    @property
    def folder(self) -> str:
        return "-".join(word for word in self.words if not word.startswith("--")).replace(":", "-")


def plans() -> Iterator[Plan]:
    """The reference, and each release of each file of deviations; the pinned one is asked for without its version."""
    yield Plan(("reference",))
    names = {entry.name.removeprefix("acp:"): entry.name for entry in registry.known()}
    for baseline in deviations_in(ROOT / "adapters"):
        name = names[baseline.harness]
        wire = wire_of(baseline.path)
        for version in baseline.versions:
            asked = name if version == _pinned(name) else f"{name}@{version}"
            options = [("--variant", baseline.variant), ("--wire", wire)]
            yield Plan((asked, *(word for pair in options if pair[1] for word in pair)), baseline.path)


def _pinned(name: str) -> str:
    try:
        return registry.find(name).describe().version
    except AdapterError:
        return ""


def publish(plan: Plan, work: Path, jobs: int, *, reuse: bool) -> str:
    """Play and publish one run; what went wrong, empty if nothing."""
    out = work / plan.folder
    if not (reuse and _complete(out)):
        command = [FORKPROOF, "run", *plan.words, *plan.known, "--out", str(out)]
        done = subprocess.run([*command, "--seed", "1", "-j", str(jobs), "-q"], cwd=ROOT, check=False)
        if done.returncode:
            return f"forkproof run {' '.join(plan.words)} ended with {done.returncode}"
    told = subprocess.run([FORKPROOF, "publish", str(out), *plan.known], cwd=ROOT, check=False)
    return "" if told.returncode == 0 else f"{out} could not be published"


def _complete(out: Path) -> bool:
    try:
        return read(out).complete
    except RunLogError:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only runs whose command holds this word")
    parser.add_argument("--work", type=Path, default=ROOT / "out" / "published", help="folder for the runs")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reuse", action="store_true", help="do not play again what is complete there")
    asked = parser.parse_args()
    wanted = [plan for plan in plans() if asked.only in " ".join(plan.words)]
    failed = [said for plan in wanted if (said := publish(plan, asked.work, asked.jobs, reuse=asked.reuse))]
    renewed = subprocess.run([FORKPROOF, "findings"], cwd=ROOT, check=False).returncode
    sys.stderr.writelines(f"{said}\n" for said in failed)
    return int(bool(failed) or not wanted or renewed != 0)


if __name__ == "__main__":
    sys.exit(main())
