"""One published figure beside its formula and what was executed, and a table of them as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Row", "format_rows"]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; None where the thesis prints none, no formula exists or nothing can be executed."""

    table: str
    item: str
    published: float | None
    formula: float | None
    measured: float | None
    unit: str = "cycles"
    note: str = ""

    @property
    def deviation(self) -> float | None:
        """How far the measured figure is from the published one, in percent."""
        if not self.published or self.measured is None:
            return None
        return 100 * (self.measured / self.published - 1)

    @property
    def differs(self) -> bool:
        """True where the formula or the measured figure is not the published one."""
        found = (value for value in (self.formula, self.measured) if value is not None)
        return self.published is not None and any(value != self.published for value in found)

    def noted(self, note: str) -> Row:
        """Return the row, with that note where it differs."""
        return replace(self, note=note if self.differs else "")


def format_rows(rows: Sequence[Row]) -> str:
    """Return rows as aligned text, one line each."""

    def cell(value: float | None) -> str:
        return "-" if value is None else f"{value:,.0f}"

    lines = []
    for row in rows:
        deviation = "" if row.deviation is None else f"{row.deviation:+.2f} %"
        figures = "  ".join(f"{cell(value):>13}" for value in (row.published, row.formula, row.measured))
        lines.append(f"{row.table:<10} {row.item:<55} {figures}  {deviation:>10}  {row.unit}  {row.note}".rstrip())
    return "\n".join(lines)
