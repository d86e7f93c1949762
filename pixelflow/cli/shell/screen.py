"""The screen of a command: its options, remarks on standard error, and reports on standard output."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pixelflow.cli.shell.output import write_stdout

if TYPE_CHECKING:
    from pixelflow.simd.report import Part, Report

__all__ = ["FORMATS", "Screen"]

FORMATS = ("text", "json", "markdown", "html")
"""Forms of a report on standard output."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Standard output as one command uses it; made from the common options."""

    width: int
    color: bool = False
    quiet: bool = False
    verbose: bool = False
    format: str = "text"
    progress: bool = True
    sink: Callable[[str], object] = write_stdout
    """Takes everything that is shown."""

    @classmethod
    def of(cls, args: argparse.Namespace) -> Screen:
        """Return the screen that the common options of ``args`` describe."""
        width = args.width or shutil.get_terminal_size((80, 24)).columns
        color = args.color == "always" or (args.color == "auto" and _terminal_takes_color())
        return cls(max(20, width), color, args.quiet, args.verbose, args.format, args.progress)

    @property
    def json(self) -> bool:
        """Whether standard output holds one object."""
        return self.format == "json"

    def note(self, text: object) -> None:
        """Print progress or a remark on stderr, unless ``--quiet``."""
        if not self.quiet and sys.stderr is not None:
            from pixelflow.simd.report.forms import printable

            sys.stderr.write(printable(f"{text}\n"))

    def print(self, *parts: Part) -> None:
        """Print parts of a report as text, for commands that say more than one thing."""
        from pixelflow.simd.report import as_text

        self.sink(as_text(parts, self.width, color=self.color))

    def show(self, report: Report) -> None:
        """Print a report in the form that was asked for, then its notes; ``--quiet`` leaves the results."""
        if self.format == "text":
            shown: Sequence[Part] = report.results if self.quiet else report.all_parts
            if shown:
                self.print(*shown)
        elif self.format == "json":
            from pixelflow.simd.report import json_text

            self.sink(json_text(report))
        else:
            from pixelflow.simd.report import html

            self.sink(getattr(html, self.format)(report) + "\n")
        for note in report.notes:
            self.note(note)


def _terminal_takes_color() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()
