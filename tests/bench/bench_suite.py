"""How many traces a CPU-second the player and the judge manage on the reference, start-up and pytest apart.

Run it as a script: `python tests/bench/bench_suite.py [--rounds N]`. It prints traces per CPU-second, in all and for
the slowest traces; the bar is 300 (design section 11). Nothing here asserts: a slow machine is no failure.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import time
from collections import defaultdict

from forkproof.adapters.inprocess import create
from forkproof.adapters.protocol import Deadlines
from forkproof.conformance.contract import load_contract
from forkproof.conformance.judge import judge
from forkproof.conformance.trace.checks import check_ids
from forkproof.conformance.trace.load import discover, load
from forkproof.conformance.trial import observe, run_to_end

BAR = 300


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    contract = load_contract()
    began = time.process_time()
    traces = [load(path) for path in discover()]
    loading = time.process_time() - began
    plans = [(each, check_ids(each)) for each in traces]
    spent: dict[str, float] = defaultdict(float)
    with asyncio.Runner() as runner:
        for number in range(rounds + 1):
            for loaded, checks in plans:
                start = time.process_time()
                seen = run_to_end(runner, observe(create(), loaded.trace, loaded.slug, number, Deadlines()))
                judge(loaded.trace, checks, seen, contract)
                if number:  # the first round warms up
                    spent[loaded.slug] += time.process_time() - start
    total = sum(spent.values())
    rate = rounds * len(traces) / total
    print(f"player and judge: {rate:.0f} traces per CPU-second over {rounds} rounds of {len(traces)} (bar {BAR})")
    for slug, seconds in sorted(spent.items(), key=lambda pair: -pair[1])[:5]:
        print(f"  {1000 * seconds / rounds:6.2f} ms  {slug}")
    print(f"loading: {1000 * loading / len(traces):.2f} ms CPU a trace")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
