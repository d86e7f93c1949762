"""Measure speeds of the simulator.

All engines run in this process, one after the other in every round, so that a busy minute of the host slows all of
them; read the ratios first. Times are medians with minimum and maximum.
"""

from __future__ import annotations

import argparse
from pkgutil import resolve_name

from pixelflow.cli.arguments import Parser, count
from pixelflow.cli.bench_engines import engines
from pixelflow.cli.bench_passes import nodes
from pixelflow.cli.machine_values import PIXELFLOW, examples_for
from pixelflow.cli.screen import Screen
from pixelflow.simd.commands import BenchmarkPlace
from pixelflow.simd.errors import UsageError
from pixelflow.simd.machine import commands_of_machines
from pixelflow.simd.report import Report

_ABOUT = {
    "engine": "the lane engines on a fixed mix of microinstructions, beside the machine at 100 MHz",
    "nodes": "many nodes in one process, on one thread and on all",
    "pass": "a bicubic pass with PE data, for its timing and for its data alone, in both schedules",
    "tessellation": "a bicubic pass on every engine, beside its simulated time",
    "timing": "timing-only runs",
    "transfers": "texture transfers",
    "trace": "writing traces",
    "frames": "pictures of the teapot that turns, as `pixelflow view` makes them, by one process and by several",
    "startup": "fresh processes: --help, the interpreter, a whole pass with empty caches and with full ones",
}
_AT = {
    "pass": "passes:PASSES",
    "tessellation": "passes:TESSELLATION",
    "timing": "streams:TIMING",
    "transfers": "streams:TRANSFERS",
    "trace": "traces:TRACES",
    "frames": "frames:FRAMES",
    "startup": "startup:STARTUP",
}
"""Where those are that take no options, each in a file of its own, since they need different packages."""
_OWN = {
    what: BenchmarkPlace(about, f"pixelflow.cli.bench.{_AT[what]}" if what in _AT else "")
    for what, about in _ABOUT.items()
}
_NODES = 40

EXAMPLES = (
    "pixelflow bench engine --rounds 1 --bound",
    "pixelflow bench engine --rounds 1 --markdown",
    "pixelflow bench timing --rounds 1",
    *examples_for("bench", PIXELFLOW),
)


def add_arguments(parser: Parser) -> None:
    """Add what is measured, of which machine, how often."""
    of_machines = {PIXELFLOW: _OWN}
    of_machines |= {name: dict(each.benchmarks) for name, each in commands_of_machines(PIXELFLOW).items()}
    places = {what: place for each in of_machines.values() for what, place in each.items()}
    first, _, rest = (__doc__ or "").partition("\n")
    table = (f"{what:<14}{place.about}" for what, place in places.items())
    if parser.description is not None:  # the one of completion has none
        parser.description = "\n".join([first, "", *table, rest])
    parser.set_defaults(of_machines=of_machines)
    add = parser.add_argument
    add("what", nargs="?", choices=tuple(places), help="what to measure (default: engine)")
    add("--machine", choices=[name for name, each in of_machines.items() if each],
        help="of which machine; its first benchmark where none is named")  # fmt: skip
    add("--rounds", type=count, default=11, help="interleaved rounds (default 11)")
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


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Measure and report."""
    places = args.of_machines[args.machine or PIXELFLOW]
    args.what = args.what or next(iter(places))
    if args.machine and args.what not in places:
        raise UsageError("--machine", f"{args.machine} has no benchmark {args.what}", f"it has {', '.join(places)}")
    _refuse_without_effect(args)
    every = {what: place for each in args.of_machines.values() for what, place in each.items()}
    match args.what:
        case "engine":
            benchmark = engines(bound=args.bound, markdown=args.markdown and args.format != "json")
        case "nodes":
            benchmark = nodes(args.nodes or _NODES)
        case what:
            benchmark = resolve_name(every[what].at)
    return benchmark.measured(args.rounds, screen.note)
