"""What all tests need of the process that they run in."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell ignores it in what it starts in the background, and that is inherited: an interrupt would never come.
    signal.signal(signal.SIGINT, signal.default_int_handler)
