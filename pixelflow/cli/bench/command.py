"""Measure speeds of the simulator.

engine        the lane engines on a fixed mix of microinstructions, beside the machine at 100 MHz
nodes         many nodes in one process, on one thread and on all
pass          a bicubic pass with PE data, for its timing and for its data alone, in both schedules
tessellation  a bicubic pass on every engine, beside its simulated time
timing        timing-only runs
transfers     texture transfers
trace         writing traces
larrabee      binning and rasterizing 100,000 triangles with cycle counts
startup       fresh processes: --help, the interpreter, a whole pass with empty caches and with full ones

All engines run in this process, one after the other in every round, so that a busy minute of the host slows all of
them; read the ratios first. Times are medians with minimum and maximum.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pixelflow.cli.shell.arguments import UsageError, count

if TYPE_CHECKING:
    from pixelflow.cli.shell.screen import Screen

__all__ = ["add_arguments", "run"]

_WHAT = ("engine", "nodes", "pass", "timing", "transfers", "trace", "larrabee", "startup", "tessellation")
_NODES = 40


EXAMPLES = (
    "pixelflow bench engine --rounds 1 --bound",
    "pixelflow bench engine --rounds 1 --markdown",
    "pixelflow bench timing --rounds 1",
    "pixelflow bench larrabee --rounds 1",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", default="engine", choices=_WHAT, help="what to measure (default: engine)")
    parser.add_argument("--rounds", type=count, default=11, help="interleaved rounds (default 11)")
    add = parser.add_argument
    add("--nodes", type=count, metavar="N", help="`nodes`: how many are compared with one (default 40)")
    add("--bound", action="store_true", help="`engine`: compare fused code with what its vector instructions must take")
    add("--markdown", action="store_true", help="`engine`: print the ratios as a table for a README")


def _refuse_without_effect(args: argparse.Namespace) -> None:
    for option, given, what in (
        ("--nodes", args.nodes is not None, "nodes"),
        ("--bound", args.bound, "engine"),
        ("--markdown", args.markdown, "engine"),
    ):
        if given and args.what != what:
            raise UsageError(option, f"is for `bench {what}`")


def _show_markdown(screen: Screen, found: dict[str, Any]) -> None:
    from pixelflow.cli.bench.engines import markdown
    from pixelflow.cli.shell.output import write_stdout

    write_stdout(markdown(found) + "\n")


def run(args: argparse.Namespace) -> int:
    from functools import partial

    from pixelflow.cli.bench import engines as bench_engines
    from pixelflow.cli.bench import nodes as bench_nodes
    from pixelflow.cli.bench import passes as bench_pass
    from pixelflow.cli.bench import rasterizer as bench_larrabee
    from pixelflow.cli.bench import streams as bench_streams
    from pixelflow.cli.bench import traces as bench_trace
    from pixelflow.cli.bench.startup import show_startup, startup
    from pixelflow.cli.bench.tessellation import show_tessellation, tessellation
    from pixelflow.cli.shell.screen import Screen

    _refuse_without_effect(args)
    screen = Screen.of(args)
    measure, show = {
        "engine": (
            partial(bench_engines.engines, bound=args.bound),
            _show_markdown if args.markdown else bench_engines.show_engines,
        ),
        "nodes": (partial(bench_nodes.nodes, count=args.nodes or _NODES), bench_nodes.show_nodes),
        "pass": (bench_pass.passes, bench_pass.show_passes),
        "timing": (bench_streams.timing, bench_streams.show_timing),
        "transfers": (bench_streams.transfers, bench_streams.show_transfers),
        "trace": (bench_trace.traces, bench_trace.show_traces),
        "tessellation": (tessellation, show_tessellation),
        "startup": (startup, show_startup),
        "larrabee": (bench_larrabee.rasterizing, bench_larrabee.show_rasterizing),
    }[args.what]
    found = measure(args.rounds, note=screen.note)
    if screen.json:
        screen.object("pixelflow.bench/2", rounds=args.rounds, **{args.what: found})
    else:
        show(screen, found)
    return 0
