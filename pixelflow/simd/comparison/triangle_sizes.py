"""Triangle sizes: the cycles of machines for triangles of one size, and for those of a scene, size by size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise
from math import prod, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.comparison.comparison import Beside
from pixelflow.simd.comparison.scorecard import assumed_line, standings_of
from pixelflow.simd.drawing import Draw, DrawnFrame, Frame, covered_samples, places_of, spans_of
from pixelflow.simd.report import (
    Column,
    Json,
    Part,
    Report,
    Table,
    counted,
    listed,
    number,
    percent,
    table_object,
    verbatim,
)

# Triangle sizes: what machines take for triangles of one size, from a pixel to thousands, and where two of them cross.
#
# Each size is a separate picture, which the caller makes. Where the cheaper
# of two machines is another one at the next size, sizes between them are drawn until two are near each other.


SIZES = (1, 3, 10, 30, 100, 300, 1000, 3000, 8000)
"""Pixels of a triangle."""
_BESIDE = 2
"""Machines that share a table of figures."""
_NEAR = 1.25
"""Ratio between the two sizes around a crossing, at most."""

Drawer: TypeAlias = Callable[[Frame], DrawnFrame]

MEASURES: Mapping[str, Callable[[DrawnFrame], float]] = {
    "cycles": lambda side: side.cycles,
    "milliseconds": lambda side: side.milliseconds,
    "cycles x lane bits": lambda side: side.lane_cycles * side.lane_bits,
}
"""By what machines are compared: cycles of the picture, time at their clocks, busy cycles times bits of lanes."""
_FIGURES = ("cycles", "milliseconds", "lane_bit_cycles")
"""Their names in the scorecard."""


class SizeDrawn(NamedTuple):
    """Triangles of one size, as each machine drew them."""

    pixels: int
    """Area of each."""
    triangles: int
    covered: int
    """Pixels that they cover, each triangle on its own."""
    sides: Mapping[str, DrawnFrame]

    def cost(self, side: str, measure: str) -> float:
        """Return what a machine took for each triangle."""
        return MEASURES[measure](self.sides[side]) / self.triangles


class Crossing(NamedTuple):
    """Between which two sizes that were drawn another machine becomes the cheaper one."""

    measure: str
    above: int
    below: int
    before: str
    """Which takes less at ``above`` pixels and fewer."""
    after: str
    """And at ``below`` pixels."""


def sizes_drawn(
    sides: Mapping[str, Drawer],
    picture: Callable[[int], Frame],
    tell: Callable[[str], None],
    sizes: Sequence[int] = SIZES,
) -> list[SizeDrawn]:
    """Draw the picture of every size on every machine, and sizes between two of them where these cross; ascending."""

    def drawn(pixels: int) -> SizeDrawn:
        frame = picture(pixels)
        spans = [spans_of(draw.triangles, frame.width, frame.height) for draw in frame.draws]
        found = {}
        for name, draw in sides.items():
            tell(f"triangles of {counted(pixels, 'pixel')}: {name}")
            found[name] = draw(frame)
        triangles = sum(len(draw.triangles) for draw in frame.draws)
        return SizeDrawn(pixels, triangles, sum(int(each.pixels.sum()) for each in spans), found)

    rows = {pixels: drawn(pixels) for pixels in sorted(set(sizes))}
    while between := _between(list(rows.values())):
        rows |= {pixels: drawn(pixels) for pixels in between}
        rows = dict(sorted(rows.items()))
    return list(rows.values())


def _between(rows: Sequence[SizeDrawn]) -> set[int]:
    """Return sizes to draw between neighbours that cross and are far apart."""
    found = set()
    for each in crossings(rows):
        middle = round(sqrt(each.above * each.below))
        if each.below > _NEAR * each.above and each.above < middle < each.below:
            found.add(middle)
    return found


def crossings(rows: Sequence[SizeDrawn]) -> list[Crossing]:
    """Return where pairs of machines cross, by each measure; rows ascend. Where both take the same neither is less."""
    found = []
    for measure in MEASURES:
        for one, other in combinations(rows[0].sides if rows else (), 2):
            for low, high in pairwise(rows):
                less = [min((one, other), key=lambda name: row.cost(name, measure)) for row in (low, high)]
                if less[0] != less[1]:
                    found.append(Crossing(measure, low.pixels, high.pixels, less[0], less[1]))
    return found


def sizes_report(rows: Sequence[SizeDrawn], about: Sequence[str] = ()) -> Report:
    """Return the table of sizes and their crossings; ``about`` is the rest of the header."""
    parts = ", ".join(f"{side.whole} at {side.clock_mhz:g} MHz" for side in rows[0].sides.values())
    title = (
        f"{counted(rows[0].triangles, 'triangle')} of each size: {parts}; for each triangle "
        "(x bits: busy cycles x bits of the lanes)"
    )
    table = _table(rows)
    few = len(rows[0].sides) <= _BESIDE
    shown = [table] if few else [part for measure in MEASURES for part in ("", _of_measure(rows, measure))][1:]
    return Report(
        "triangle sizes",
        tuple(about),
        results=[title, "", *shown, "", *_found(rows)],
        schema="pixelflow.study.triangle-sizes/1",
        data={"standings": _object(_standings(rows)), **({} if few else {table.key: table_object(table)})},
    )


def _object(standings: Mapping[str, Mapping[str, str]]) -> Json:
    return {name: dict(figures) for name, figures in standings.items()}


def _of_measure(rows: Sequence[SizeDrawn], measure: str) -> Table:
    """Return one measure of all machines next to each other, where one table cannot hold every measure."""
    names = list(rows[0].sides)
    columns = [Column("pixels", number), *(Column(name, number) for name in names)]
    cells = [[row.pixels, *(row.cost(name, measure) for name in names)] for row in rows]
    return Table(columns, cells, f"{measure} for a triangle")


def _table(rows: Sequence[SizeDrawn]) -> Table:
    names = list(rows[0].sides)
    columns = [Column("pixels", number, "pixels"), Column("covered", number, "covered_pixels")]
    for name in names:
        columns.append(Column(f"{name}, cycles", number, f"{_key(name)}_cycles"))
        columns.append(Column(f"{name}, ns", number, f"{_key(name)}_nanoseconds"))
        columns.append(Column(f"{name}, x bits", number, f"{_key(name)}_lane_bits"))
    values: list[list[Json]] = []
    for row in rows:
        cells: list[Json] = [row.pixels, row.covered / row.triangles]
        for name in names:
            cycles, milliseconds, bits = (row.cost(name, measure) for measure in MEASURES)
            cells += [cycles, milliseconds * 1e6, bits]
        values.append(cells)
    return Table(columns, values, key="sizes")


def _key(name: str) -> str:
    return name.lower().replace(" ", "_")


def _found(rows: Sequence[SizeDrawn]) -> Iterator[Part]:
    found = crossings(rows)
    columns = (
        Column("crossing in", verbatim, "measure"), Column("above, pixels", number, "above"),
        Column("below", number, "below"), Column("takes less before", verbatim, "before"),
        Column("after", verbatim, "after"),
    )  # fmt: skip
    cells = [(each.measure, each.above, each.below, each.before, each.after) for each in found]
    yield Table(columns, cells, key="crossings")
    crossed = {each.measure for each in found}
    for measure in (each for each in MEASURES if each not in crossed and len(rows[0].sides) > 1):
        least = min(rows[0].sides, key=lambda name: rows[0].cost(name, measure))
        yield f"in {measure} there is no crossing: {least} takes the least at every size"
    yield (
        f"A crossing is between two sizes that were drawn, at most {_NEAR:g} times apart or a pixel. The area of a "
        "triangle is its size; small ones sometimes cover no pixel. What each side leaves out is in `compare`."
    )
    yield f"{assumed_line(side for row in rows for side in row.sides.values())}."


def _standings(rows: Sequence[SizeDrawn]) -> dict[str, dict[str, str]]:
    """Return the provenance of the figures by machine and measure."""
    keys = {measure: (key,) for measure, key in zip(MEASURES, _FIGURES, strict=True)}
    return standings_of(((name, side) for row in rows for name, side in row.sides.items()), keys)


# Triangles of a scene by their size: each size is drawn alone by every machine, for lanes that are lit and paid.
#
# Unlike `sizes`, which asks for triangles of one size, this sorts those that a scene has by how many pixels they cover.


_BOUNDS = (1, 4, 16, 64, 256, 1024)
"""Pixels from which a size goes to below the next one; the last one has no end."""


class Way(NamedTuple):
    """A way in which a machine draws a size; most have one."""

    name: str
    draw: Drawer
    lit: tuple[str, ...] = ("covered_lanes",)
    """Shares of its account whose product is that of the lanes that triangles light."""
    about: str = ""
    """Qualifications of its figures."""


class SizeRow(NamedTuple):
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
    standings = _standings_of_triangles(rows)
    parts = tuple(_parts(rows, given - sum(row.triangles for row in rows)))
    data: dict[str, Json] = {"rows": [_row_object(row) for row in rows], "standings": _object(standings)}
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


def _parts(rows: Sequence[SizeRow], without: int) -> Iterator[Part]:
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


def _whose(ways: Sequence[Way]) -> Iterator[str]:
    """Yield whose cycles are all there are, where others' are not."""
    rest = [way.name for way in ways if not way.about]
    if rest and len(rest) < len(ways):
        yield f"The cycles of {listed(rest)} are those of everything executed there."


def _standings_of_triangles(rows: Sequence[SizeRow]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for way in rows[0].ways:
        drawn = [(way.name, row.sides[way.name]) for row in rows]
        found |= standings_of(drawn, {"lanes lit": way.lit, "busy cycles x lanes": ("lane_cycles",)})
    return found


def _row_object(row: SizeRow) -> dict[str, Json]:
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
