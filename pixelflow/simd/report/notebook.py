"""Reports in a notebook and by ``rich.print``: their tables as data frames, with images."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pixelflow.simd.errors import InputError, MissingPackageError
from pixelflow.simd.report.model import Json, Report, Table

if TYPE_CHECKING:
    import pandas
    import polars
    from rich.console import Console, ConsoleOptions, RenderResult

# Objects that show themselves as a report, in a notebook and by ``rich.print``, and hand out its tables.


_FEW_ROWS = 60
"""Rows of one table that a notebook shows: a saved one holds them as text."""


class Shown(ABC):
    """Something with a report: rich prints it, and notebooks display it.

    Whatever its texts hold (brackets, tags, control characters) is shown as it is.
    """

    __slots__ = ()

    @abstractmethod
    def report(self) -> Report:
        """Return what the object shows."""

    def picture(self) -> RasterImage | None:
        """Return the image that a notebook shows above the report; None where there is nothing to see."""
        return None

    def tables(self) -> Mapping[str, Table]:
        """Return the tables by name; those of the report unless the object has more."""
        report = self.report()
        named = [part for part in (*report.parts, *report.results) if isinstance(part, Table)]
        return {each.key or each.title or each.columns[-1].heading: each for each in named}

    def table(self, name: str | None = None) -> ShownTable:
        """Return a table by name, the first without one; raises InputError with the names where there is none such."""
        from pixelflow.simd.errors import Fault, InputError, suggestion

        found = self.tables()
        wanted = next(iter(found), "") if name is None else str(name)
        if wanted not in found:
            hint = suggestion(wanted, found, f"tables: {', '.join(found) or 'none'}")
            raise InputError(Fault(f"there is no table {wanted!r}", hint=hint))
        return ShownTable(wanted, found[wanted])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the report for `rich.print`."""
        from rich.text import Text

        from pixelflow.simd.errors import printable
        from pixelflow.simd.report.text import as_text

        report = self.report()
        yield Text(printable(" · ".join((report.title, *report.subject))), style="bold")
        yield Text(printable(as_text((*report.parts, *report.results), options.max_width)), overflow="fold", end="")

    def text(self, columns: int = 100) -> str:
        """Return the report as lines for a screen of this many columns."""
        from pixelflow.simd.errors import printable
        from pixelflow.simd.report.text import as_text

        return printable(as_text(self.report().all_parts, columns)).rstrip("\n")

    def _repr_html_(self) -> str:
        """Return the report for notebooks; an image takes the place of what is drawn in characters."""
        from pixelflow.simd.report.html import html

        report, picture = self.report(), self.picture()
        image = "" if picture is None else picture.html()
        if image:
            kept = [part for part in report.parts if not (isinstance(part, str) and "\n" in part)]
            report = replace(report, parts=kept)
        return image + html(report)


class ShownTable(Shown):
    """One table of a report, by itself: to look at, or to continue with as a data frame."""

    __slots__ = ("content", "name")

    def __init__(self, name: str, content: Table) -> None:
        self.name, self.content = name, content

    def __repr__(self) -> str:
        columns = ", ".join(column.heading for column in self.content.columns)
        return f"Table({self.name!r}, {len(self.content.rows)} rows: {columns})"

    def __str__(self) -> str:
        return self.text()

    def report(self) -> Report:
        """Return the table alone; of a long one the first rows."""
        rows = self.content.rows
        left = len(rows) - _FEW_ROWS
        more = [f"and {left:,} more rows; to_dict() and data frames have them all"] if left > 0 else []
        return Report(self.name, parts=[self.content._replace(rows=rows[:_FEW_ROWS]), *more])

    def to_dict(self) -> dict[str, list[Json]]:
        """Return the cells by column, as numbers and texts, without rows of sums.

        A column is called as in JSON, or without a key there by its label.
        """
        columns = enumerate(self.content.columns)
        return {each.key or each.label or "": [row[at] for row in self.content.rows] for at, each in columns}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame of pandas; raises MissingPackageError where it is not installed."""
        try:
            import pandas
        except ImportError:
            raise MissingPackageError("this data frame needs pandas, which is not installed", "frames") from None
        return pandas.DataFrame(self.to_dict())

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame of polars; raises MissingPackageError where it is not installed."""
        try:
            import polars
        except ImportError:
            raise MissingPackageError("this data frame needs polars, which is not installed", "frames") from None
        return polars.DataFrame(self.to_dict(), strict=False)


# Images of a report in a notebook: rows of bytes, and the PNG that pillow makes of them.


_MODES = {1: "L", 3: "RGB"}


@dataclass(frozen=True, slots=True)
class RasterImage:
    """An image: ``data`` holds rows from the top, each pixel as one byte of grey or three of red, green and blue.

    ``scale`` is the side of a pixel on the screen; ``caption`` says in a line what one sees.
    """

    width: int
    height: int
    channels: int
    data: bytes
    caption: str = ""
    scale: int = 1

    def __post_init__(self) -> None:
        if self.channels not in _MODES or len(self.data) != self.width * self.height * self.channels:
            size = f"{self.width} x {self.height} x {self.channels}"
            raise InputError(f"an image of {size} bytes has {len(self.data)} bytes; channels are 1 or 3")

    def __repr__(self) -> str:
        return f"RasterImage({self.width} x {self.height}, {self.caption!r})"

    def png(self) -> bytes:
        """Return a PNG file; raises MissingPackageError without pillow."""
        try:
            from PIL import Image
        except ImportError:
            raise MissingPackageError("writing a PNG needs Pillow, which is not installed", "image") from None
        buffer = io.BytesIO()
        image = Image.frombytes(_MODES[self.channels], (self.width, self.height), self.data)
        image.save(buffer, format="PNG")  # optimizing makes it a tenth smaller in seven times the time
        return buffer.getvalue()

    def html(self) -> str:
        """Return the image as a piece of a page; empty without pillow."""
        from html import escape

        try:
            file = b64encode(self.png()).decode()
        except MissingPackageError:
            return ""
        size = f'width="{self.width * self.scale}" height="{self.height * self.scale}"'
        caption = escape(self.caption)
        style = "image-rendering: pixelated" if self.scale > 1 else "max-width: 100%"
        source = f'src="data:image/png;base64,{file}"'
        return (
            f'<figure><img {size} alt="{caption}" style="{style}" {source}/><figcaption>{caption}</figcaption></figure>'
        )
