"""Rows of the thesis, with those of its notes that apply."""

from __future__ import annotations

from pixelflow.evidence import Basis, Number, Range, Row
from tessellation.published.notes import NOTES, PRINTED_DIGITS
from tessellation.published.thesis import FIGURES

__all__ = ["figure_row", "row"]


def row(
    item: str,
    published: Number | None,
    formula: Number | None,
    measured: Number | None,
    basis: Basis,
    *notes: str,
    unit: str = "cycles",
    step: Number = 0,
    parts: Number | None = None,
    detail: str = "",
    within: Range | None = None,
) -> Row:
    """Return a row with those of the named notes that apply, see `Row.noted`."""
    plain = Row(item, published, formula, measured, basis, unit, step, parts)
    return plain.noted(*(NOTES[name] for name in (PRINTED_DIGITS, *notes)), detail=detail, within=within)


def figure_row(
    name: str, formula: Number | None, measured: Number | None, basis: Basis, *notes: str, parts: Number | None = None
) -> Row:
    """Return the row of ``FIGURES[name]``."""
    figure = FIGURES[name]
    # The section says where in its chapter; an appendix is a table of its own.
    item = f"{name} ({figure.section})" if figure.section[0].isdigit() else name
    return row(item, figure.value, formula, measured, basis, *notes, unit=figure.unit, step=figure.step, parts=parts)
