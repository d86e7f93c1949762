"""What a run with and without PE data costs, and what a transfer costs: measured on a program of both streams.

The program has the shape of a bicubic pass: 16 transfers with marks from the LEE, and float routines between them. It
never changes from one release to the next without a new name, so that figures stay comparable.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from pixelflow.cli.screen import Column, Screen, number

__all__ = [
    "PASS",
    "PASS_NAME",
    "milliseconds",
    "show_timing",
    "show_transfers",
    "spread",
    "timing",
    "told_rounds",
    "transfers",
]

PASS_NAME = "pass/1"

PASS = """\
include "float32/tuned.mc"
range a[4]
range b[4]
range c[4]
overlay out[32] at 352
EMC_TreeIntoMem_Li a, 4, 0, 0, float(1.25)
EMC_TreeIntoMem_Li b, 4, 0, 0, float(0.5)
loop 16
    EMC_TreeIntoMem_Li out, 4, 0, 0, 512
    EMC_TreeEQZero_Li 0, 1, 0, 64, 0
    EMC_MarkRead
    EMC_SetEnab
    SIGNAL 0
    loop 9
        CALL fmul, c, a, b
        CALL fadd, a, c, b
    end
    WAIT 1
    repeat i in 0 .. 31
        LD R, [320 + i]
        ST [200 + i], R
    end
end
stream tigc
loop 16
    WAIT 0
    TAS_MemRdRepeat4 4, 1
    SIGNAL 1
end
"""

TRANSFERS_NAME = "transfers/1"

_TRANSFERS = """\
EMC_TreeIntoMem_Li [352], 4, 0, 0, 512
EMC_MarkRead
EMC_MarkWrite
loop 4
    SIGNAL 0
    WAIT 1
end
stream tigc
loop 4
    WAIT 0
    {}
    SIGNAL 1
end
"""

_KINDS = ("TAS_MemRdBlock4 1", "TAS_MemRdRepeat4 16, 1", "TAS_MemWrBlock4 2", "TAS_LoopBack")


def told_rounds(rounds: int, note: Callable[[str], None], what: str = "") -> Iterator[int]:
    """Yield the number of each round, from 0 on; say before each which it is, and of ``what``."""
    for done in range(rounds):
        note(f"{what}{': ' * bool(what)}round {done + 1} of {rounds}")
        yield done


def spread(times: list[float]) -> dict[str, float]:
    """Return the median of times in seconds, with the least and the greatest."""
    return {"median": statistics.median(times), "min": min(times), "max": max(times)}


def timing(rounds: int, note: Callable[[str], None]) -> dict[str, Any]:
    """Return the wall times of a pass with and without data, interleaved, and the median of same-round ratios.

    The engine is the one that a command takes unless it is told another.
    """
    from microcode import assemble
    from pixelflow.config import THESIS
    from pixelflow.node import Node
    from pixelflow.simd.lanes import AUTO

    program = assemble(PASS)
    node = Node(THESIS, AUTO)
    times: dict[bool, list[float]] = {True: [], False: []}
    runs = {function: node.run(program, function=function) for function in times}  # decoded before it is measured
    for _ in told_rounds(rounds, note):
        for function, seen in times.items():
            started = perf_counter()
            runs[function] = node.run(program, function=function)
            seen.append(perf_counter() - started)
    return {
        "program": PASS_NAME,
        "engine": node.engine,
        "cycles": {"with data": runs[True].total_cycles, "timing only": runs[False].total_cycles},
        "seconds": {"with data": spread(times[True]), "timing only": spread(times[False])},
        "timing_only_share": statistics.median(t / f for t, f in zip(times[False], times[True], strict=True)),
    }


def transfers(rounds: int, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Return the wall time of a transfer of each kind, to or from all PEs, against what it takes on the machine."""
    from microcode import assemble
    from pixelflow.config import THESIS
    from pixelflow.node import Node
    from pixelflow.simd.lanes import AUTO

    node = Node(THESIS, AUTO)
    found = []
    for kind in _KINDS:
        program = assemble(_TRANSFERS.format(kind))
        run = node.run(program)
        times = []
        for _ in told_rounds(rounds, note, kind):
            started = perf_counter()
            run = node.run(program)
            times.append((perf_counter() - started) / 4)
        found.append(
            {
                "program": TRANSFERS_NAME,
                "engine": node.engine,
                "transfer": kind,
                "cycles": run.tasic_cycles[0] // 4,
                "bytes": (run.ledger.inbound.counted + run.ledger.outbound.counted) // 4,
                "seconds": spread(times),
                "slowdown_against_machine": statistics.median(times) / THESIS.seconds(run.tasic_cycles[0] // 4),
            }
        )
    return found


def show_timing(screen: Screen, found: dict[str, Any]) -> None:
    """Print the wall times of a pass."""
    screen.text(f"{found['program']}: {number(found['cycles']['with data'])} cycles, engine {found['engine']}")
    rows = [(name, milliseconds(seconds)) for name, seconds in found["seconds"].items()]
    screen.table([Column("run", fixed=True), Column("ms [min..max]", numbers=True)], rows)
    screen.text(f"timing only takes {100 * found['timing_only_share']:.2f} % of the run with data")


def show_transfers(screen: Screen, found: list[dict[str, Any]]) -> None:
    """Print the wall time of each kind of transfer."""
    names = ("bytes", "cycles", "ms [min..max]", "x slower than 100 MHz")
    screen.text(f"{TRANSFERS_NAME}: one transfer for all PEs, engine {found[0]['engine']}")
    screen.table(
        [Column("transfer", fixed=True), *(Column(name, numbers=True) for name in names)],
        [
            (
                each["transfer"],
                number(each["bytes"]),
                number(each["cycles"]),
                milliseconds(each["seconds"]),
                number(round(each["slowdown_against_machine"])),
            )
            for each in found
        ],
    )


def milliseconds(seconds: dict[str, float]) -> str:
    """Return what `spread` gave, in milliseconds."""
    return "{:.1f} [{:.1f}..{:.1f}]".format(*(1000 * seconds[name] for name in ("median", "min", "max")))
