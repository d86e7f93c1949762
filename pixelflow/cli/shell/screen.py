"""The screen of a command: its options, remarks on standard error, and reports on standard output."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pixelflow.cli.shell.output import output_file, write_stdout

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
    html: str | None = None
    """The file of the page, where one was asked for."""
    command: str = "pixelflow"
    """What stands over a page whose report has no title."""
    sink: Callable[[str], object] = write_stdout
    """Takes everything that is shown."""

    @classmethod
    def of(cls, args: argparse.Namespace, command: str) -> Screen:
        """Return the screen that the common options of ``args`` describe."""
        width = args.width or shutil.get_terminal_size((80, 24)).columns
        color = args.color == "always" or (args.color == "auto" and _terminal_takes_color())
        return cls(max(20, width), color, args.quiet, args.verbose, args.format, args.progress,
                   args.html, command)  # fmt: skip

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
        """Print a report in the form that was asked for, then its notes; ``--quiet`` leaves the results.

        Its page is written where one was asked for.
        """
        if self.format == "text":
            shown: Sequence[Part] = report.results if self.quiet else report.all_parts
            if shown:
                self.print(*shown)
        elif self.format == "json":
            from pixelflow.simd.report import json_text

            self.sink(json_text(report))
        elif self.format == "html":
            self.sink(self._page(report))
        else:
            from pixelflow.simd.report.html import markdown

            self.sink(markdown(report) + "\n")
        self.write_page(report)
        for note in report.notes:
            self.note(note)

    def write_page(self, report: Report) -> None:
        """Write the page of a report where one was asked for; for commands whose output is a text of its own."""
        if self.html is not None:
            with output_file(self.html) as stream:
                stream.write(self._page(report))
            self.note(f"wrote {self.html}")

    def _page(self, report: Report) -> str:
        from pixelflow.simd.report.html import page

        return page(report, self.command)


def _terminal_takes_color() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()
