"""Lines of a sweep: one column against an axis, a line for each combination of the other axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pixelflow.cli.sweep.grid import written_as
from pixelflow.simd.report import Curves, Json

__all__ = ["curves_of", "lines_of"]

_MOST_LINES = 10
CYCLES = "run.cycles"
"""The column that a sweep is most often made for."""


def lines_of(
    rows: Sequence[Mapping[str, Json]], axes: Sequence[str], x: str, y: str
) -> dict[str, list[tuple[Json, Json]]]:
    """Return the points (x, y) of each line by what its other axes are; rows without a value are left out."""
    others = [name for name in axes if name != x]
    lines: dict[str, list[tuple[Json, Json]]] = {}
    for row in rows:
        if row.get(y) not in (None, ""):
            label = ", ".join(f"{name} = {written_as(row[name])}" for name in others)
            lines.setdefault(label, []).append((row[x], row[y]))
    return lines


def curves_of(rows: Sequence[Mapping[str, Json]], axes: Sequence[str]) -> tuple[Curves, ...]:
    """Return the cycles against the first axis of numbers; nothing without one, or of more lines than one reads."""
    for x in axes:
        lines = lines_of(rows, axes, x, CYCLES)
        points = [value for line in lines.values() for point in line for value in point]
        if points and len(lines) <= _MOST_LINES and all(_is_number(value) for value in points):
            drawn = [(label, [(float(x), float(y)) for x, y in line]) for label, line in lines.items()]  # type: ignore[arg-type]
            return (Curves(f"{CYCLES} against {x}", x, "cycles", drawn),)
    return ()


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
