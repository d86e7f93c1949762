"""The rows of a verification: what was found for each table, how the rows came out, and their figures as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pixelflow.simd.records import record
from tessellation.published.notes import NOTES, Note, Reason
from tessellation.published.rows import Number, Outcome, Row
from tessellation.reproduction import Reproduction

__all__ = ["Verified", "deviation_text", "figure_text", "percent_text"]


@record
class Verified:
    """The rows of all tables that were asked for, in their order."""

    tables: tuple[tuple[Reproduction, tuple[Row, ...]], ...]
    complete: bool
    """Whether these are all tables that there are."""

    @property
    def rows(self) -> Iterator[tuple[Reproduction, Row]]:
        """Every row with its table."""
        return ((table, row) for table, rows in self.tables for row in rows)

    @property
    def outcomes(self) -> Counter[Outcome]:
        """How many rows came out how."""
        return Counter(row.outcome for _, row in self.rows)

    @property
    def reasons(self) -> Counter[Reason]:
        """How many of the explained rows have which kind of reason; a row can have several."""
        explained = (row for _, row in self.rows if row.outcome is Outcome.EXPLAINED)
        return Counter(reason for row in explained for reason in {NOTES[name].reason for name in row.notes})

    @property
    def measured(self) -> int:
        """Rows whose figure was executed."""
        return sum(row.measured is not None for _, row in self.rows)

    @property
    def formula_only(self) -> int:
        """Rows that have a formula and nothing executed."""
        return sum(row.measured is None and row.formula is not None for _, row in self.rows)

    @property
    def notes(self) -> list[Note]:
        """The notes that rows or whole tables refer to, in their order; all where all tables are here."""
        used = {name for table, rows in self.tables for name in table.notes}
        used |= {name for _, row in self.rows for name in row.notes}
        return [note for name, note in NOTES.items() if name in used]

    def failures(self, *, strict: bool) -> list[tuple[Reproduction, Row]]:
        """Return the rows that fail: those that deviate without a note, or with ``strict`` all that deviate."""
        bad = {Outcome.UNEXPLAINED, Outcome.EXPLAINED} if strict else {Outcome.UNEXPLAINED}
        return [(table, row) for table, row in self.rows if row.outcome in bad]


def figure_text(value: Number | None) -> str:
    """Return a count in full and a fraction with five digits; a dash where there is none."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.5g}"


def deviation_text(value: Number | None) -> str:
    """Return by how much a figure is off, with its sign; 0 where it is not."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    return f"{value:+,}" if isinstance(value, int) else f"{value:+,.3g}"


def percent_text(value: float | None) -> str:
    """Return the same in percent, with two digits after the point, or more where these would all be zero."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    return f"{value:+.2f}" if abs(value) >= 0.005 else f"{value:+.1g}"
