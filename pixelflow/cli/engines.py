"""The lane engine that a command runs with."""

from __future__ import annotations

import argparse

from pixelflow.cli.screen import Screen
from pixelflow.node.kernels import choose
from pixelflow.simd.errors import Fault, InputError, Place, install_command


def engine_of(args: argparse.Namespace, screen: Screen) -> str:
    """Return the name of the lane engine of ``--engine``; a note says if ``auto`` cannot take the fastest.

    Raises InputError for an engine given by name that does not work here: no other replaces it.
    """
    choice = choose(args.engine)
    if choice.why is not None:
        install = install_command("fast")
        hint = f"install the extra: {install}; or leave out --engine for the fastest that works"
        raise InputError(Fault(choice.why, Place(f"--engine {args.engine}"), hint))
    if choice.note is not None:
        screen.note(f"note: {choice.note}")
    return choice.engine
