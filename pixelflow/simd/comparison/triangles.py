"""Triangles of a scene by their size: each size is drawn alone by every machine, for lanes that are lit and paid.

Unlike `sizes`, which asks for triangles of one size, this sorts those that a scene has by how many pixels they cover.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.comparison.report import Beside
from pixelflow.simd.comparison.scorecard import standing_lines, standings_of
from pixelflow.simd.comparison.sizes import Drawer
from pixelflow.simd.drawing import Draw, DrawnFrame, Frame, covered_samples, places_of
from pixelflow.simd.report import Column, Json, Part, Table, counted, listed, number, percent

__all__ = ["SizeRow", "Way", "by_triangle_size", "size_rows"]

_BOUNDS = (1, 4, 16, 64, 256, 1024)
"""Pixels from which a size goes to below the next one; the last one has no end."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way in which a machine draws a size; most have one."""

    name: str
    draw: Drawer
    lit: tuple[str, ...] = ("covered_lanes",)
    """Shares of its account whose product is that of the lanes that triangles light."""
    about: str = ""
    """What is to be known of its figures."""


@dataclass(frozen=True, slots=True, eq=False)
class SizeRow:
    """Triangles of one size: how many, the pixels that they cover, and what each way to draw them took."""

    least: int
    below: int | None
    triangles: int
    pixels: int
    ways: Sequence[Way]
    sides: Mapping[str, DrawnFrame]
    """By the names of the ways."""

    @property
    def title(self) -> str:
        """Their pixels in words."""
        return f"{self.least:,} and more" if self.below is None else f"{self.least:,} to {self.below - 1:,}"

    def paid(self, way: str) -> float:
        """Return cycles in which parts were busy, times the lanes of one, for each pixel."""
        return self.sides[way].lane_cycles / self.pixels

    def lit(self, way: str) -> float | None:
        """Return the share of lanes, of what they work on at once, that triangles cover; None where none is counted."""
        (names,) = (each.lit for each in self.ways if each.name == way)
        shares = [getattr(self.sides[way], each) for each in names]
        return None if None in shares else prod(shares)


def by_triangle_size(frame: Frame, ways: Sequence[Way]) -> Beside | None:
    """Draw a frame's triangles size by size in every way; None where none covers a pixel."""
    rows = list(size_rows(frame, ways))
    if not rows:
        return None
    given = sum(len(draw.triangles) for draw in frame.draws)
    standings = _standings(rows)
    parts = tuple(_parts(rows, given - sum(row.triangles for row in rows), standings))
    data: dict[str, Json] = {"rows": [_object(row) for row in rows], "standings": _json(standings)}
    return Beside("Triangles by their size", parts, data, ())


def size_rows(frame: Frame, ways: Sequence[Way]) -> Iterator[SizeRow]:
    """Yield a row for each size that a frame has triangles of."""
    covered = [_covered(draw, frame) for draw in frame.draws]
    for least, below in zip(_BOUNDS, (*_BOUNDS[1:], None), strict=True):
        chosen = [(count >= least) & (below is None or count < below) for count in covered]
        triangles = sum(int(which.sum()) for which in chosen)
        if not triangles:
            continue
        pixels = sum(int(count[which].sum()) for count, which in zip(covered, chosen, strict=True))
        draws = tuple(
            replace(draw, triangles=draw.triangles.part(which))
            for draw, which in zip(frame.draws, chosen, strict=True)
            if which.any()
        )
        alone = replace(frame, draws=draws)
        yield SizeRow(least, below, triangles, pixels, ways, {way.name: way.draw(alone) for way in ways})


def _covered(draw: Draw, frame: Frame) -> NDArray[np.int64]:
    """Return how many pixels each triangle of a draw covers at some sample, whatever hides it."""
    found = np.zeros(len(draw.triangles), np.int64)
    for batch, _ in covered_samples(draw.triangles, frame.width, frame.height, places_of(frame.samples)):
        found += np.bincount(batch.triangle, minlength=len(found))
    return found


def _parts(rows: Sequence[SizeRow], without: int, standings: Mapping[str, Mapping[str, str]]) -> Iterator[Part]:
    ways = rows[0].ways
    about = [Column("pixels", fixed=True), Column("triangles", number)]
    tables = (
        ("lanes lit, by the size of triangles", percent, SizeRow.lit),
        ("busy cycles x lanes for each pixel covered, by the size of triangles", number, SizeRow.paid),
    )
    for at, (title, kind, figure) in enumerate(tables):
        cells: list[list[Json]] = [
            [row.title, row.triangles, *map(partial(figure, row), row.sides)] for row in rows
        ]  # fmt: skip
        yield from [""] if at else []
        yield Table([*about, *(Column(way.name, kind) for way in ways)], cells, title)
    yield " ".join(
        [
            "Each size is drawn alone. Lanes lit: of all lanes at work, the share that triangles cover.",
            *dict.fromkeys(way.about for way in ways if way.about),
            *_whose(ways),
            *([f"{counted(without, 'triangle')} cover no pixel and are in no row."] if without else []),
        ]
    )
    yield from standing_lines(standings)


def _whose(ways: Sequence[Way]) -> Iterator[str]:
    """Yield whose cycles are all there are, where others' are not."""
    rest = [way.name for way in ways if not way.about]
    if rest and len(rest) < len(ways):
        yield f"The cycles of {listed(rest)} are those of all that is carried out there."


def _standings(rows: Sequence[SizeRow]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for way in rows[0].ways:
        drawn = [(way.name, row.sides[way.name]) for row in rows]
        found |= standings_of(drawn, {"lanes lit": way.lit, "busy cycles x lanes": ("lane_cycles",)})
    return found


def _json(standings: Mapping[str, Mapping[str, str]]) -> dict[str, Json]:
    return {name: dict(figures) for name, figures in standings.items()}


def _object(row: SizeRow) -> dict[str, Json]:
    return {
        "pixels": [row.least, None if row.below is None else row.below - 1],
        "triangles": row.triangles,
        "covered": row.pixels,
        "machines": {
            name: {
                "lanes_lit": row.lit(name),
                "lane_cycles_a_pixel": row.paid(name),
                "cycles": side.cycles,
                "milliseconds": side.milliseconds,
                "instructions": sum(side.mix.values()),
            }
            for name, side in row.sides.items()
        },
    }
