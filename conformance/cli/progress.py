"""How an installation looks while it runs: a bar on a terminal, a few lines elsewhere, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from forkproof.adapters.install import Progress

__all__ = ["Lines", "Terminal", "watch"]

_MB = 10**6
_QUARTERS = 4
_STRIDE = 100 * _MB


class Lines:
    """Plain lines: each step, then the quarters of a known size, or every hundred megabytes of an unknown one."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._told = 0

    def step(self, text: str) -> None:
        """Print the step on a line of its own."""
        self._told = 0
        self._line(text)

    def arrived(self, done: int, total: int | None) -> None:
        """Print a line when the next milestone is passed."""
        # A size known beforehand may be an estimate: the last quarter is the next step's to tell.
        mark = min(done * _QUARTERS // total, _QUARTERS - 1) if total else done // _STRIDE
        if mark > self._told:
            self._told = mark
            share = f"{mark * 100 // _QUARTERS} % of {total // _MB} MB" if total else f"{done // _MB} MB so far"
            self._line(f"  {share}")

    def _line(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()


class Terminal:
    """A bar with megabytes and seconds; it pulses while the size is not known."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None, size="")

    def step(self, text: str) -> None:
        """Name the step beside a bar that starts anew."""
        self._bar.remove_task(self._task)
        self._task = self._bar.add_task(text, total=None, size="")

    def arrived(self, done: int, total: int | None) -> None:
        """Move the bar; an estimate that proves too small must not claim that all is there."""
        bound = None if total is None else max(total, done + done // 50)
        size = f"{done // _MB} MB so far" if bound is None else f"{done // _MB} of {bound // _MB} MB"
        self._bar.update(self._task, completed=done, total=bound, size=size)


class _Silent:
    def step(self, text: str) -> None:
        """Say nothing."""

    def arrived(self, done: int, total: int | None) -> None:
        """Say nothing."""


@contextmanager
def watch(stream: TextIO, *, shown: bool, colour: bool) -> Iterator[Progress]:
    """A watcher that writes to `stream` and takes its bar away at the end."""
    if not shown:
        yield _Silent()
    elif not stream.isatty():
        yield Lines(stream)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[size]}"),
            TimeElapsedColumn(),
        )
        console = Console(file=stream, no_color=not colour)
        with Progress(*columns, console=console, transient=True) as bar:
            yield Terminal(bar)
