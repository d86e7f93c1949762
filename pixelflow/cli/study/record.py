"""A study as the command knows it: its line of help, its options, and what executes it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.screen import Screen
from pixelflow.config import NodeConfig, load_config
from pixelflow.simd.report import Report, number

__all__ = ["Study", "no_options", "node_of"]


def no_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the study has no options of its own."""


@dataclass(frozen=True, slots=True)
class Study:
    """One study."""

    name: str
    help: str
    run: Callable[[argparse.Namespace, Screen], Report]
    add_options: Callable[[argparse.ArgumentParser], None] = no_options


def node_of(args: argparse.Namespace) -> NodeConfig:
    """Return the node that the options describe; raises UsageError where it has not the PEs that passes need."""
    config = load_config(args.config, args.overrides, args.preset)
    if config.lanes != 8192:
        raise UsageError(
            "study", f"passes and pictures of a study need 8,192 PEs, this machine has {number(config.lanes)}"
        )
    return config
