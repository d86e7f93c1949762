"""The command line: the composition root, the only room that may import every package.

Each command is a file with ``add_arguments(parser)`` and ``run(args, screen) -> Report``; the registry names them, and
`main` imports the requested one.
"""

from __future__ import annotations

__all__ = ["process"]


def process() -> int:
    """Run the command of this process and return its exit code; what runs it is imported when interrupts are heeded."""
    from pixelflow.cli.interrupts import end_at_once

    end_at_once()
    from pixelflow.cli import main

    return main.process()
