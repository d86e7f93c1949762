"""Run the kernels of processing in memory: results against numpy, cycles, bytes, utilisation.

Vector add, reduction, dot product, matrix by vector, histogram, prefix sum, select, bitonic sort and nearest
neighbours, as microcode, on the thesis machine and on one of four times its size, or on the machine that is named.
"""

from __future__ import annotations

import argparse

from pim_kernels import KERNELS, KernelRun, kernels_report, measure
from pixelflow.cli.arguments import Parser, add_config_options, add_engine_option, count_or_zero
from pixelflow.cli.engines import engine_of
from pixelflow.cli.machine_config import configuration
from pixelflow.cli.machine_values import configured
from pixelflow.cli.screen import Progress, Screen
from pixelflow.config import PRESETS, NodeConfig
from pixelflow.node import EnergyConfig
from pixelflow.simd.errors import UsageError
from pixelflow.simd.report import Report

_SIZES = ("thesis", "large")
"""What kernels run on where no machine is named."""

_ALL = "all"

EXAMPLES = (
    "pixelflow kernels --preset tiny",
    "pixelflow kernels vector_add gemv",
    "pixelflow kernels reduction --preset tiny --energy",
)


def add_arguments(parser: Parser) -> None:
    """Add which kernels, on which machine and engine, with which data."""
    add = parser.add_argument
    names = (_ALL, *KERNELS)
    add("kernels", nargs="*", choices=names, default=_ALL, metavar="KERNEL",
        help=f"which of {', '.join(KERNELS)} (default: {_ALL})")  # fmt: skip
    add_engine_option(parser)
    add("--seed", type=count_or_zero, default=1, help="of the random data (default 1); cycles do not depend on it")
    add("--energy", action="store_true", help="account for energy by kind of work; prices are invented")
    add("--price", action="append", default=[], metavar="WORK=FJ",
        help="with --energy: another price, in femtojoules (repeatable)")  # fmt: skip
    add_config_options(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Run the kernels and report; fails where a result is not numpy's."""
    if args.price and not args.energy:
        raise UsageError("--price", "there is no --energy to account for")
    prices = configured(EnergyConfig, "--price", args.price)
    engine = engine_of(args, screen)
    machines = _machines(args, screen)
    chosen = [KERNELS[name] for name in (KERNELS if _ALL in args.kernels else dict.fromkeys(args.kernels))]
    for config in machines.values():
        for kernel in chosen:
            kernel.program(config)  # what does not fit is said before anything runs
    found: dict[str, list[KernelRun]] = {name: [] for name in machines}
    work = [(name, kernel) for name in machines for kernel in chosen]
    with Progress(screen) as progress:
        for number, (name, kernel) in enumerate(work, 1):
            progress.part(number, len(work), f"{kernel.name} on {name}")
            found[name].append(measure(kernel, machines[name], engine, seed=args.seed, prices=prices))
    return kernels_report(found, energy=args.energy)


def _machines(args: argparse.Namespace, screen: Screen) -> dict[str, NodeConfig]:
    """Return the machines by name: the one that was named, or the thesis machine and the large one."""
    if args.preset is None and args.config is None and not args.overrides:
        return {name: PRESETS[name] for name in _SIZES}
    effective = configuration(args, screen)
    return {effective.label: effective.config}
