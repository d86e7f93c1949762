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
from importlib import import_module

from pixelflow.cli.bench.engines import engines
from pixelflow.cli.bench.nodes import nodes
from pixelflow.cli.shell.arguments import UsageError, count
from pixelflow.cli.shell.screen import Screen
from pixelflow.simd.benchmark import Benchmark
from pixelflow.simd.report import Report

__all__ = ["add_arguments", "run"]

_WHAT = ("engine", "nodes", "pass", "timing", "transfers", "trace", "larrabee", "startup", "tessellation")
_FILES = {
    "pass": ("passes", "PASSES"),
    "timing": ("streams", "TIMING"),
    "transfers": ("streams", "TRANSFERS"),
    "trace": ("traces", "TRACES"),
    "larrabee": ("rasterizer", "RASTERIZING"),
    "startup": ("startup", "STARTUP"),
    "tessellation": ("passes", "TESSELLATION"),
}
"""Where those are that take no options."""
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


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Measure and report."""
    _refuse_without_effect(args)
    return _benchmark(args).measured(args.rounds, screen.note)


def _benchmark(args: argparse.Namespace) -> Benchmark:
    """Return what is measured: each from a file of its own, since they need different packages."""
    match args.what:
        case "engine":
            return engines(bound=args.bound, markdown=args.markdown and args.format != "json")
        case "nodes":
            return nodes(args.nodes or _NODES)
    file, name = _FILES[args.what]
    return getattr(import_module(f"pixelflow.cli.bench.{file}"), name)
