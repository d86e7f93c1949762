"""The lane engine that a command runs with."""

from __future__ import annotations

import argparse

from pixelflow.cli.shell.screen import Screen
from pixelflow.node.parts.kernels import choose

__all__ = ["engine_of"]


def engine_of(args: argparse.Namespace, screen: Screen) -> str:
    """Return the name of the lane engine of ``--engine`` that works here; a note says where it is another one."""
    choice = choose(args.engine)
    if choice.note is not None:
        screen.note(f"note: {choice.note}")
    return choice.engine
