"""What is shipped to be run, solved and gone through: examples, exercises and the notebook tour, by name."""

from __future__ import annotations

from pathlib import Path

from microcode.read.files import EXAMPLES
from pixelflow.course import EXERCISES, TOUR, source_of

__all__ = ["example_files", "shipped_files"]


def example_files() -> dict[str, Path]:
    """Return the files of the examples by name."""
    return {path.stem: path for path in sorted(EXAMPLES.glob("*.mc"))}


def shipped_files() -> dict[str, Path]:
    """Return the files of examples, of the stubs of exercises, and of the tour, by name."""
    return {**example_files(), **{each: source_of(each) for each in EXERCISES}, TOUR.stem: TOUR}
