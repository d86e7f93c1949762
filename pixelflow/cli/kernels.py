"""Run the kernels of processing in memory: results against numpy, cycles, bytes, utilisation.

From vector add and matrix products to sorting, k-means and AES, as microcode, on the thesis machine and on one of
four times its size, or on the machine that is named, with the times of a published bit-serial machine.

With --machine, the kernels of another machine: results compared with references, cycles, speed-up, bottleneck.
All of them take a minute or two.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from pkgutil import resolve_name

from pim_kernels import KERNELS, KernelRun, kernels_report, measure
from pixelflow.cli.arguments import add_config_options, add_engine_option, count_or_zero
from pixelflow.cli.machine_values import (
    PIXELFLOW,
    add_machine_option,
    configuration,
    configured,
    engine_of,
    examples_for,
)
from pixelflow.cli.screen import Progress, Screen
from pixelflow.config import PRESETS, NodeConfig
from pixelflow.node import EnergyConfig
from pixelflow.simd.commands import MachineKernels
from pixelflow.simd.errors import UsageError, suggestion
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Report

_SIZES = ("thesis", "large")
"""Presets on which kernels run unless a machine is named."""

_ALL = "all"

EXAMPLES = (
    "pixelflow kernels --preset tiny",
    "pixelflow kernels vector_add gemv",
    "pixelflow kernels reduction --preset tiny --energy",
    *examples_for("kernels", PIXELFLOW),
)

_OF_NODES = ("engine", "seed", "energy", "price", "config", "preset")
"""Options that only kernels of processing in memory take."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which kernels, on which machine and engine, with which data."""
    add = parser.add_argument
    add("kernels", nargs="*", default=_ALL, metavar="KERNEL",
        help=f"which of {', '.join(KERNELS)} (default: {_ALL})")  # fmt: skip
    add_machine_option(parser)
    add("--list", action="store_true", help="other machines: list the names and places of all kernels, run none")
    add_engine_option(parser)
    add("--seed", type=count_or_zero, help="of the random data (default 1); cycles do not depend on it")
    add("--energy", action="store_true", help="account for energy by kind of work; prices are invented")
    add("--price", action="append", default=[], metavar="WORK=FJ",
        help="with --energy: another price, in femtojoules (repeatable)")  # fmt: skip
    add_config_options(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Run the kernels and report; fails where a result is not numpy's."""
    if args.machine != PIXELFLOW:
        return _of_another(args, screen)
    if args.list:
        raise UsageError("--list", "is of other machines' kernels", "add --machine")
    chosen = [KERNELS[name] for name in _named(args.kernels, KERNELS)]
    if args.price and not args.energy:
        raise UsageError("--price", "there is no --energy to account for")
    prices = configured(EnergyConfig, "--price", args.price)
    engine = engine_of(args, screen)
    machines = _machines(args, screen)
    for config in machines.values():
        for kernel in chosen:
            kernel.program(config)  # what does not fit is said before anything runs
    found: dict[str, list[KernelRun]] = {name: [] for name in machines}
    work = [(name, kernel) for name in machines for kernel in chosen]
    with Progress(screen) as progress:
        for number, (name, kernel) in enumerate(work, 1):
            progress.part(number, len(work), f"{kernel.name} on {name}")
            found[name].append(
                measure(kernel, machines[name], engine, seed=1 if args.seed is None else args.seed, prices=prices)
            )
    return kernels_report(found, energy=args.energy)


def _of_another(args: argparse.Namespace, screen: Screen) -> Report:
    """Execute kernels of the machine that was named, and report."""
    machine = machine_named(args.machine)
    for name in _OF_NODES:
        if getattr(args, name) not in (None, False, [], AUTO):
            raise UsageError(f"--{name}", f"is PixelFlow's; this is {machine.title}")
    if machine.commands is None or not machine.commands.kernels:
        raise UsageError("--machine", f"there are no kernels of {machine.title} here")
    kernels: MachineKernels[object, object, object] = resolve_name(machine.commands.kernels)
    names = _named(args.kernels, kernels.known)
    if args.list:
        return kernels.listed([kernels.known[name] for name in names])
    config = configured(machine.configuration, "-D", args.overrides)
    found = []
    with Progress(screen, len(names)) as progress:
        for name in names:
            progress.doing(name)
            found.append((kernels.known[name], kernels.carry_out(kernels.known[name], config, progress.doing)))
            progress.step()
    return kernels.report(found, config)


def _named(words: Sequence[str], known: Collection[str]) -> list[str]:
    """Return the names of the kernels that were asked for, each once; raises UsageError for an unknown one."""
    for word in words if words != _ALL else ():
        if word not in (_ALL, *known):
            hint = suggestion(word, (_ALL, *known), f"kernels: {', '.join((_ALL, *known))}")
            raise UsageError("KERNEL", f"there is no kernel {word!r}", hint)
    return list(known if _ALL in words else dict.fromkeys(words))


def _machines(args: argparse.Namespace, screen: Screen) -> dict[str, NodeConfig]:
    """Return the machines by name: the one that was named, or the thesis machine and the large one."""
    if args.preset is None and args.config is None and not args.overrides:
        return {name: PRESETS[name] for name in _SIZES}
    effective = configuration(args)
    return {effective.label: effective.config}
