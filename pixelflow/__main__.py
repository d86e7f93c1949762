"""The command ``pixelflow``: what the script of an installation runs, also as ``python -m pixelflow``."""

from __future__ import annotations

import sys


def process() -> int:
    """Run the command of this process and return its exit code; an interrupt ends also what comes before it begins."""
    from pixelflow.simd.interrupts import end_at_once

    end_at_once()
    from pixelflow.cli import main

    return main.process()


if __name__ == "__main__":
    sys.exit(process())
