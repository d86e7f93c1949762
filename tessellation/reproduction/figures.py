"""A number in the text of the thesis as a row."""

from __future__ import annotations

from tessellation.published.rows import Basis, Number, Row
from tessellation.published.thesis import FIGURES

__all__ = ["figure_row"]


def figure_row(
    name: str, formula: Number | None, measured: Number | None, basis: Basis, *notes: str, detail: str = ""
) -> Row:
    """Return the row of ``FIGURES[name]``, with those of the notes that apply."""
    figure = FIGURES[name]
    # The section says where in its chapter; an appendix is a table of its own.
    item = f"{name} ({figure.section})" if figure.section[0].isdigit() else name
    row = Row(item, figure.value, formula, measured, basis, figure.unit, figure.step)
    return row.noted(*notes, detail=detail)
