"""What all tests need of the process that they run in."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# How long a test takes on a busy machine says nothing about what it tests.
settings.register_profile("forkproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("forkproof")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell ignores it in what it starts in the background, and that is inherited: an interrupt would never come.
    signal.signal(signal.SIGINT, signal.default_int_handler)
