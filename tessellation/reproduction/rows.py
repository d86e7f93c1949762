"""Rows of the thesis, with its notes where something is to be said."""

from __future__ import annotations

from dataclasses import replace

from pixelflow.evidence import Basis, Derivation, Digits, Number, Reason, Row, RowVerdict
from tessellation.published.notes import NOTES
from tessellation.published.thesis import DIGITS, FIGURES

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
    digits: Digits = Digits.ROUNDED,
    predicted: Derivation | None = None,
    derived: Derivation | None = None,
    busy: Number | None = None,
    detail: str = "",
) -> Row:
    """Return a row. It has the named notes where it is not as published; readings it has always."""
    plain = Row(item, published, formula, measured, basis, unit, step, digits, predicted, derived, (), busy, detail)
    named = [NOTES[name] for name in notes]
    if plain.verdict is not RowVerdict.EQUAL:
        return replace(plain, notes=tuple(named))
    return replace(plain, notes=tuple(note for note in named if note.reason is Reason.READING))


def figure_row(
    name: str,
    formula: Number | None,
    measured: Number | None,
    basis: Basis,
    *notes: str,
    predicted: Derivation | None = None,
    derived: Derivation | None = None,
    busy: Number | None = None,
) -> Row:
    """Return the row of ``FIGURES[name]``."""
    figure = FIGURES[name]
    # The section says where in its chapter; an appendix is a table of its own.
    item = f"{name} ({figure.section})" if figure.section[0].isdigit() else name
    return row(
        item, figure.value, formula, measured, basis, *notes,
        unit=figure.unit, step=figure.step, digits=DIGITS.get(f"section {figure.section[0]}", Digits.ROUNDED),
        predicted=predicted, derived=derived, busy=busy,
    )  # fmt: skip
