"""`pixelflow run --machine NAME`: a program on another machine than PixelFlow."""

from __future__ import annotations

import argparse

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.machine_values import configured
from pixelflow.cli.shell.programs import read_program
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Report

__all__ = ["run_elsewhere"]

_OF_NODES = (
    "timing_only", "function_only", "max_cycles", "expect_cycles", "memory", "profile", "save_at", "load", "stats",
    "trace", "window", "only", "record", "live", "frame", "config", "dump", "ranges", "show_map", "pe", "output",
)  # fmt: skip
"""What a PixelFlow node alone can be told."""


def run_elsewhere(args: argparse.Namespace) -> Report:
    """Run the program on the machine that was named, and report."""
    machine = machine_named(args.machine)
    for name in _OF_NODES:
        if getattr(args, name) not in (None, False, []):
            option = {"ranges": "range"}.get(name, name).replace("_", "-")
            raise UsageError(f"--{option}", f"is PixelFlow's; this is {machine.title}")
    if args.preset is not None and args.preset not in machine.presets:
        raise UsageError(f"--preset {args.preset}", f"{machine.title} has no such preset")
    config = configured(machine.configuration, "-D", args.overrides)
    return machine.run(read_program(args.program, args.parameters, machine.target), config=config).report()
