"""One check as plain text, for whoever prints lines of their own: pytest's failure section."""

from __future__ import annotations

from io import StringIO

from forkproof.reports.blocks import draw_block
from forkproof.reports.events import Checked
from forkproof.reports.failures import Failure
from forkproof.reports.screen import Screen

__all__ = ["check_text"]


def check_text(check: Checked, width: int = 100) -> str:
    """What the console shows of a failed check, without colours, `width` columns wide."""
    file = StringIO()
    draw_block(Screen(file, {}, color=False, width=width), 1, Failure(check), {}, run_log=None)
    return file.getvalue().rstrip()
