"""Where the console's lines go: a terminal, a pipe or a file, with or without colour, wide letters or ASCII only.

rich does the work and is imported when a screen is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO, TypeAlias

from forkproof.reports.events import Verdict
from forkproof.reports.plain import plain
from forkproof.reports.tally import Mood, mood

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

__all__ = ["ASCII", "UNICODE", "Marks", "Screen", "Words", "style"]

Words: TypeAlias = str | tuple[str, str]
"""Text, or text with a style. The text may be a harness's own: it is made safe before it is shown."""

_STYLES: dict[Mood, str] = {
    "good": "green",
    "bad": "bold red",
    "broken": "bold magenta",
    "warn": "yellow",
    "known": "cyan",
    "quiet": "dim",
}


def style(verdict: Verdict) -> str:
    """The colour of a verdict."""
    return _STYLES[mood(verdict)]


@dataclass(frozen=True, slots=True)
class Marks:
    """The signs that stand for moods, and the sign for text that was cut."""

    moods: Mapping[Mood, str]
    cut: str


_NARROWEST = 20
"""Columns that wrapped text gets, however narrow the screen is."""

UNICODE = Marks({"bad": "✗", "broken": "!", "warn": "?", "known": "~", "good": "✓"}, "…")
ASCII = Marks({"bad": "x", "broken": "!", "warn": "?", "known": "~", "good": "+"}, "...")


class Screen:
    """Prints styled lines to a text stream.

    color: None decides by the stream and by NO_COLOR and FORCE_COLOR. width: columns; None asks the terminal, or takes
    80. A stream that can't encode the Unicode marks gets ASCII ones.
    """

    def __init__(
        self, file: TextIO, environ: Mapping[str, str], *, color: bool | None = None, width: int | None = None
    ) -> None:
        from rich.console import Console as Terminal

        self.interactive = file.isatty() and environ.get("TERM") != "dumb"
        if color is None:
            color = not environ.get("NO_COLOR") and (self.interactive or bool(environ.get("FORCE_COLOR")))
        self._terminal = Terminal(
            file=file,
            width=width,
            color_system="auto" if color else None,
            force_terminal=color or self.interactive,
            highlight=False,
            markup=False,
            emoji=False,
            _environ=environ,
        )
        self.width = self._terminal.width
        self.marks = UNICODE if (file.encoding or "utf-8").lower().startswith("utf") else ASCII

    def text(self, *words: Words) -> Text:
        """The words joined, each in its style."""
        from rich.text import Text

        pairs = [(w, "") if isinstance(w, str) else w for w in words]
        return Text.assemble(*((plain(t, ascii_only=self._ascii(t)), s) for t, s in pairs))

    def _ascii(self, text: str) -> bool:
        return self.marks is ASCII and not text.isascii()

    def line(self, *words: Words) -> None:
        """Print one line that no wrapping breaks, so that a command or a path can be copied from it."""
        self._terminal.print(self.text(*words), soft_wrap=True)

    def paragraph(self, indent: int, first: Words, *words: Words) -> None:
        """Print words wrapped to the width, all lines from column `indent` on; `first` stands before the first line."""
        start = self.text(first)
        start.pad_right(max(0, indent - start.cell_len))
        room = max(_NARROWEST, self.width - indent)
        for line in self.text(*words).wrap(self._terminal, room, overflow="fold"):
            line.rstrip()
            self._terminal.print(start + line, soft_wrap=True)
            start = self.text(" " * indent)

    def cut(self, text: str, width: int) -> str:
        """The text in at most `width` columns, cut between words where it can be."""
        from rich.cells import cell_len, set_cell_size

        text = plain(text, ascii_only=self._ascii(text))
        if cell_len(text) <= width:
            return text
        room = set_cell_size(text, max(0, width - len(self.marks.cut))).rstrip()
        words, space, _ = room.rpartition(" ")
        kept = words if space and len(words) > width // 2 else room
        return kept + self.marks.cut

    @staticmethod
    def columns(text: str) -> int:
        """How many columns the text takes; wide letters take two."""
        from rich.cells import cell_len

        return cell_len(text)

    def live(self, draw: Callable[[], Text]) -> Live:
        """A line that stays at the bottom and is drawn anew twice a second, and leaves nothing behind."""
        from rich.live import Live

        return Live(
            get_renderable=draw,
            console=self._terminal,
            refresh_per_second=2,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
