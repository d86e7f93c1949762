"""Measure the speed of the lane engines on a fixed mix of microinstructions, of timing-only runs and of transfers.

All engines run in this process, one after the other in every round, so that a busy minute of the host slows all of
them; read the ratios first. Times are medians with minimum and maximum.
"""

from __future__ import annotations

import argparse

__all__ = ["add_arguments", "run"]

# The reference engine is two orders slower; it gets fewer rounds of the mix so that all engines take similar time.
_REPEATS = {"rows": 10, "bit-serial": 1}


_WHAT = ("engine", "timing", "transfers")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", default="engine", choices=_WHAT, help="what to measure (default: engine)")
    parser.add_argument("--rounds", type=_positive, default=5, help="interleaved rounds (default 5)")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value


def run(args: argparse.Namespace) -> int:
    if args.what == "engine":
        return _engines(args)
    from pixelflow.cli import bench_streams
    from pixelflow.cli.screen import Screen

    screen = Screen.of(args)
    measure, show = {
        "timing": (bench_streams.timing, bench_streams.show_timing),
        "transfers": (bench_streams.transfers, bench_streams.show_transfers),
    }[args.what]
    found = measure(args.rounds)
    if screen.json:
        screen.object("pixelflow.bench/1", rounds=args.rounds, **{args.what: found})
    else:
        show(screen, found)
    return 0


def _engines(args: argparse.Namespace) -> int:
    import statistics
    from time import perf_counter

    from pixelflow.cli.bench_mix import MIX_NAME, mix_program
    from pixelflow.cli.screen import Column, Screen, counted, number
    from pixelflow.config import THESIS
    from pixelflow.lanes import ENGINES
    from pixelflow.node import Node

    screen = Screen.of(args)
    nodes = {name: Node(THESIS, engine=name) for name in ENGINES}
    programs = {name: mix_program(_REPEATS[name]) for name in ENGINES}
    for name, node in nodes.items():
        node.run(mix_program(1))  # decode and bind outside the measured time, as a long run would
        screen.note(f"{name} is ready")
    times: dict[str, list[float]] = {name: [] for name in ENGINES}
    runs = {}
    for number_of_round in range(args.rounds):
        for name, node in nodes.items():
            started = perf_counter()
            runs[name] = node.run(programs[name])
            times[name].append(perf_counter() - started)
        screen.note(f"round {number_of_round + 1} of {args.rounds}")
    results = []
    for name in ENGINES:
        executed = runs[name].microinstructions
        median = statistics.median(times[name])
        rate = executed / median
        results.append(
            {
                "engine": name,
                "microinstructions": executed,
                "seconds": {"median": median, "min": min(times[name]), "max": max(times[name])},
                "microinstructions_per_second": rate,
                "pe_instructions_per_second": rate * THESIS.lanes,
                "slowdown_against_machine": THESIS.clock_mhz * 1e6 / rate,
            }
        )
    ratio = _median_ratio(times["bit-serial"], times["rows"], runs["bit-serial"], runs["rows"])
    memory = _peak_megabytes()
    if screen.json:
        screen.object(
            "pixelflow.bench/1", mix=MIX_NAME, rounds=args.rounds, engines=results,
            rows_against_bit_serial=ratio, peak_memory_megabytes=memory,
        )  # fmt: skip
        return 0
    columns = [Column("engine", fixed=True), *(Column(n, numbers=True) for n in (
        "instr/s", "G PE-instr/s", "x slower than 100 MHz", "us per instr [min..max]"))]  # fmt: skip
    screen.text(f"{MIX_NAME} on {THESIS.lanes:,} PEs, {counted(args.rounds, 'interleaved round')}, medians")
    screen.table(
        columns,
        [
            (
                r["engine"],
                number(round(r["microinstructions_per_second"])),
                f"{r['pe_instructions_per_second'] / 1e9:.3f}",
                number(round(r["slowdown_against_machine"])),
                "{:.1f} [{:.1f}..{:.1f}]".format(
                    *(1e6 * r["seconds"][k] / r["microinstructions"] for k in ("median", "min", "max"))
                ),
            )
            for r in results
        ],
    )
    screen.text(f"rows against bit-serial: {ratio:.1f} times as fast (median of same-round ratios)")
    if memory is not None:
        screen.text(f"peak memory of this process: {memory} MB")
    return 0


def _median_ratio(slow: list[float], fast: list[float], slow_run, fast_run) -> float:
    """Return the median over rounds of (time per instruction of one engine) / (of the other)."""
    import statistics

    work = fast_run.microinstructions / slow_run.microinstructions
    return statistics.median(s / f * work for s, f in zip(slow, fast, strict=True))


def _peak_megabytes() -> int | None:
    """Return the peak resident memory of this process, or None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))
