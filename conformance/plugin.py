"""The pytest plugin: with `--harness NAME`, trace files are collected and each check is an item.

Registered for pytest by the package's entry point, it costs nothing until `--harness` is given: this module imports
nothing of ours before that. Source: design section 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

__all__ = ["pytest_addoption", "pytest_configure"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a certification run."""
    group = parser.getgroup("forkproof", "conformance of conversation forking")
    add = group.addoption
    add("--harness", metavar="NAME[@VERSION]", help="collect *.yaml traces and play them on this harness")
    add("--forkproof-variant", metavar="NAME", help="which of the harness's own ways to work")
    add("--forkproof-wire", metavar="NAME", help="the wire format in which the harness is to speak to its model")
    add("--forkproof-profile", metavar="LEVEL", help="only clauses of this certification level: core, or extended")
    add("--baseline", metavar="FILE", help="known deviations (deviations.yaml), strict both ways")
    add("--forkproof-out", metavar="DIR", help="write run.jsonl there")
    add("--forkproof-seed", type=int, metavar="N", help="seed of the markers; the same seed gives the same record")
    add("--forkproof-chaos", type=int, metavar="N", help="disturb the model's answers on their way, by this seed")
    add("--forkproof-deadline", type=float, metavar="SECONDS", help="how long the start and each operation may take")
    add(
        "--forkproof-isolation",
        choices=("trace", "run"),
        default="trace",
        help="a harness process for each trace, or one for all traces that can share it",
    )
    add("--forkproof-check", action="append", default=[], metavar="ID", help="only this check; may be repeated")
    # The command line's own: it reports in the place of pytest's terminal.
    add("--forkproof-console", choices=("full", "plain", "quiet", "json"), help="report by forkproof's own console")


def pytest_configure(config: pytest.Config) -> None:
    """Register the suite, if a harness was named."""
    if config.getoption("harness"):
        from forkproof.conformance.collection import Suite

        config.pluginmanager.register(Suite(config), "forkproof-suite")
