"""Measure speeds of the simulator: `python -m benchmarks [NAME ...]`, all benchmarks where none is named.

The cases of a benchmark run in turn, one after the other in every round, so that a busy minute of the host slows all of
them; read the ratios first. Times are medians with minimum and maximum.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any

from benchmarks.benchmark import Benchmark
from pixelflow.cli.arguments import Parser, add_common_options, count
from pixelflow.cli.screen import Screen
from pixelflow.simd.errors import SimulatorError, format_error

BENCHMARKS = {
    "engine": (
        "the lane engines on a fixed mix of instructions, against the machine at 100 MHz",
        "engines:engines",
    ),
    "nodes": ("many nodes in one process, on one thread and on all", "engines:nodes"),
    "pass": ("a bicubic pass with PE data, for its timing and for its data alone, in both schedules", "passes:PASSES"),
    "tessellation": ("a bicubic pass on every engine, against its simulated time", "passes:TESSELLATION"),
    "timing": ("timing-only runs", "passes:TIMING"),
    "transfers": ("texture transfers", "passes:TRANSFERS"),
    "trace": ("writing traces", "passes:TRACES"),
    "frames": ("pictures of the teapot that turns, as `pixelflow view` makes them, by processes", "frames:FRAMES"),
    "startup": ("fresh processes: --help, the interpreter, a whole pass with empty and full caches", "startup:STARTUP"),
    "commands": ("long commands: verify, compare, a picture of 100,416 triangles", "startup:COMMANDS"),
    "larrabee": ("its vector unit, a frame, and binning and rasterizing 100,000 triangles", "larrabee:LARRABEE"),
    "gen6": ("400 instructions in 64 threads of the Gen6 EU", "gen6:SHADING"),
    "attila": ("cycles a second of ATTILA's frames, by what bounds them", "attila:RATES"),
}
"""Summary of each, and the place of the `Benchmark` or of its maker; imported when it is measured."""
_OPTIONS = {"nodes": "nodes", "bound": "engine", "markdown": "engine"}
"""Options of one benchmark, by its name."""
_NODES = 40


def _parser() -> Parser:
    table = "\n".join(f"{name:<14}{about}" for name, (about, _) in BENCHMARKS.items())
    parser = Parser(prog="python -m benchmarks", description=f"{__doc__}\n{table}")
    parser.set_defaults(format="text", quiet=False, verbose=False, color="auto", width=None, progress=True, html=None)
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="what to measure (default: everything)")
    add("--rounds", type=count, default=11, help="interleaved rounds (default 11)")
    add("--nodes", type=count, metavar="N", help=f"`nodes`: how many are compared with one (default {_NODES})")
    add("--bound", action="store_true", help="`engine`: compare fused code with what its vector instructions must take")
    add("--markdown", action="store_true", help="`engine`: print the ratios as a table for a README")
    add_common_options(parser)
    return parser


def _benchmark(name: str, args: argparse.Namespace) -> Benchmark:
    found: Any = resolve_name(f"benchmarks.{BENCHMARKS[name][1]}")
    if name == "engine":
        found = found(bound=args.bound, markdown=args.markdown and args.format != "json")
    elif name == "nodes":
        found = found(args.nodes or _NODES)
    assert isinstance(found, Benchmark)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, report and return the exit code."""
    parser = _parser()
    args = parser.parse_args(arguments)
    names = args.names or [*BENCHMARKS]
    for name in names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name[:60]!r}; there are {', '.join(BENCHMARKS)}")
    for option, name in _OPTIONS.items():
        if getattr(args, option) and name not in names:
            parser.error(f"--{option} is for `{name}`")
    screen = Screen.of(args, parser.prog)
    try:
        measured = [_benchmark(name, args).measured(args.rounds, screen.note) for name in names]
        screen.show(replace(measured[0], results=[part for each in measured for part in each.results]))
    except SimulatorError as error:
        sys.stderr.write(format_error(error) + "\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
