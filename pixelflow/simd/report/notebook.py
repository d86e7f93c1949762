"""Objects that show themselves as a report, in a notebook and by ``rich.print``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelflow.simd.report.model import Report

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["Shown"]


class Shown:
    """Something with a report: rich prints it, and notebooks display it.

    Whatever its texts hold (brackets, tags, control characters) is shown as it is.
    """

    __slots__ = ()

    def report(self) -> Report:
        """Return what the object shows."""
        raise NotImplementedError

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the report for `rich.print`."""
        from rich.text import Text

        from pixelflow.simd.report.forms import printable
        from pixelflow.simd.report.text import as_text

        report = self.report()
        yield Text(printable(" · ".join((report.title, *report.subject))), style="bold")
        yield Text(printable(as_text((*report.parts, *report.results), options.max_width)), overflow="fold", end="")

    def _repr_html_(self) -> str:
        """Return the report for notebooks."""
        from pixelflow.simd.report.html import html

        return html(self.report())
