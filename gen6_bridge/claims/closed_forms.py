"""Closed forms of the schedule: cases whose cycles or misses can be worked out by hand, and how many are off.

t is how long the pipe is held, L the wait for a result, K the threads, N their instructions; there are no caches but
where lines are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from gen6_bridge.claims.bench import timed
from gen6_bridge.code.assembler import assemble_eu
from gen6_bridge.time import CarriedStep, EuConfig, schedule
from pixelflow.simd.report import counted

__all__ = ["LOOPS", "chains", "independent", "loop_misses", "loops", "off", "parts"]

_CHAINS = {2: "add (8) g{0}<1>F g{0}<8,8,1>F g1<8,8,1>F", 4: "add (16) g{0}<1>F g{0}<8,8,1>F g2<8,8,1>F"}
"""An instruction that waits for itself, by the cycles for which it holds the pipe."""
_LATENCIES, _THREADS = (12, 14, 16), range(1, 6)
LOOPS = {10: 0, 64: 0, 65: 5, 70: 30, 80: 80, 90: 90}
"""Lines of a loop, and those that each turn but the first misses: 16 sets of 4, and a set of five misses all five."""
_TURNS = 3

Case = tuple[str, int, int]
"""What it is, what was found, and what the closed form says."""


def chains(count: int = 40) -> Iterator[Case]:
    """Yield cycles of K threads, each with m chains that wait for themselves and take turns.

    With m K t up to L they take (N - 1) L + m K t, where N counts the turns; past that the pipe is full: m K N t.
    """
    for ways, latency, held, threads in product((1, 2, 3, 4), _LATENCIES, _CHAINS, _THREADS):
        source = "\n".join(_CHAINS[held].format(10 + 4 * way) for way in range(ways))
        config = EuConfig(caches=False, dependent_cycles=latency)
        turn, most = ways * threads * held, max(latency, held)
        wanted = (count - 1) * most + turn if turn <= most else count * turn
        name = f"{counted(threads, 'thread')} of {counted(ways, 'chain')}, t {held}, L {latency}"
        yield name, timed(source, threads, count * ways, config).cycles, wanted


def independent(count: int = 60) -> Iterator[Case]:
    """Yield cycles of K threads whose instructions wait for nothing: K N t."""
    for held, threads in product(_CHAINS, _THREADS):
        lines = [_CHAINS[held].format(1).replace("g1<1>", f"g{20 + 2 * at}<1>") for at in range(20)]
        yield (
            f"{counted(threads, 'thread')} of instructions that wait for nothing",
            timed("\n".join(lines), threads, count).cycles,
            (threads * count * held),
        )


def parts() -> Iterator[Case]:
    """Yield cycles of a thread of roots beside one of sums: the longer of the two, or one cycle more."""
    code = assemble_eu(_CHAINS[2].format(10) + "\nmath (8) g12<1>F g12<8,8,1>F inv").code
    config = EuConfig(caches=False)
    alone = [schedule(code, [[CarriedStep(at)] * 50], config).cycles for at in (0, 1)]
    both = schedule(code, [[CarriedStep(at)] * 50 for at in (0, 1)], config).cycles
    yield "roots beside sums", both, max(alone) + (both == max(alone) + 1)


def loop_misses(lines: int, turns: int = _TURNS) -> int:
    """Return the lines that a loop of so many misses in all of its turns."""
    code = assemble_eu("nop\n" * (4 * lines)).code
    return schedule(code, [[CarriedStep(at) for at in range(4 * lines)] * turns], EuConfig()).l1_misses


def loops() -> Iterator[Case]:
    """Yield misses of loops, which a cache of 64 lines holds or does not."""
    for lines, each_turn in LOOPS.items():
        yield f"a loop of {lines} lines", loop_misses(lines), lines + (_TURNS - 1) * each_turn


def off(*families: Iterator[Case]) -> tuple[int, list[str]]:
    """Return how many cases there are, and those that are off."""
    cases = [case for family in families for case in family]
    wrong = [f"{name}: {found}, by the closed form {wanted}" for name, found, wanted in cases if found != wanted]
    return len(cases), wrong
