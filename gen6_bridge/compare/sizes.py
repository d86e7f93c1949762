"""Lanes lit and paid by the size of triangles: threads of 8 and of 16 channels, beside what other machines do.

A scene's triangles are sorted by how many pixels they cover, and each size is drawn alone by every machine: on Gen6
twice, in threads of eight channels (two subspans of 2x2 pixels) and of sixteen (four).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.time import EuConfig
from pixelflow.simd.commands import Told
from pixelflow.simd.comparison import Beside
from pixelflow.simd.drawing import Draw, DrawnFrame, Frame, covered_samples, places_of
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Column, Json, Part, Table, number, percent
from tessellation.picture import SceneSource

__all__ = ["SizeRow", "by_triangle_size", "size_rows"]

_GEN6 = "gen6"
_BOUNDS = (1, 4, 16, 64, 256, 1024)
"""Pixels from which a size goes to below the next one; the last one has no end."""
_WIDTHS = (8, 16)


@dataclass(frozen=True, slots=True, eq=False)
class SizeRow:
    """Triangles of one size: how many, the pixels that they cover, and what each way to draw them took."""

    least: int
    below: int | None
    triangles: int
    pixels: int
    sides: dict[str, DrawnFrame]

    @property
    def title(self) -> str:
        """Their pixels in words."""
        return f"{self.least:,} and more" if self.below is None else f"{self.least:,} to {self.below - 1:,}"

    def paid(self, side: str) -> float:
        """Return cycles in which parts were busy, times the lanes of one, for each pixel."""
        return self.sides[side].lane_cycles / self.pixels

    def lit(self, side: str) -> float:
        """Return the share of the lanes of what lanes work on at once that triangles cover.

        On Gen6 of the channels of threads, those included that no subspan fills; else of the machine's blocks.
        """
        found = self.sides[side]
        filled = found.enabled_lanes if side.startswith(_SIDE) and found.enabled_lanes is not None else 1.0
        return found.covered_lanes * filled


_SIDE = "Gen6 SIMD"


def by_triangle_size(
    scene: str, how: SceneSource, told: Mapping[str, Told], frame: Frame, drawn: Sequence[DrawnFrame]
) -> Beside | None:
    """Draw a scene's triangles size by size on the machines that are ``told``; None where none covers a pixel."""
    rows = list(size_rows(frame, how, told))
    if not rows:
        return None
    return Beside(tuple(_parts(rows)), {"rows": [_object(row) for row in rows]}, ())


def size_rows(frame: Frame, how: SceneSource, told: Mapping[str, Told]) -> Iterator[SizeRow]:
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
        yield SizeRow(least, below, triangles, pixels, _drawn(alone, how, told))


def _covered(draw: Draw, frame: Frame) -> NDArray[np.int64]:
    """Return how many pixels each triangle of a draw covers at some sample, whatever hides it."""
    found = np.zeros(len(draw.triangles), np.int64)
    for batch, _ in covered_samples(draw.triangles, frame.width, frame.height, places_of(frame.samples)):
        found += np.bincount(batch.triangle, minlength=len(found))
    return found


def _drawn(frame: Frame, how: SceneSource, told: Mapping[str, Told]) -> dict[str, DrawnFrame]:
    found: dict[str, DrawnFrame] = {}
    for name, words in told.items():
        drawer = machine_named(name).draw
        assert drawer is not None  # as it has been told how to draw
        if name != _GEN6:
            side = drawer(frame, progress=how.progress, **words)
            found[side.machine] = side
            continue
        for width in _WIDTHS:
            config = replace(words.get("config") or EuConfig(), channels=width)
            found[f"{_SIDE}{width}"] = drawer(frame, progress=how.progress, **{**words, "config": config})
    return found


def _parts(rows: list[SizeRow]) -> Iterator[Part]:
    sides = list(rows[0].sides)
    about = [Column("pixels", fixed=True), Column("triangles", number)]
    lit: list[list[Json]] = [[row.title, row.triangles, *map(row.lit, sides)] for row in rows]
    paid: list[list[Json]] = [[row.title, row.triangles, *map(row.paid, sides)] for row in rows]
    title = "lanes lit, by the size of triangles"
    yield from ("", Table([*about, *(Column(side, percent) for side in sides)], lit, title))
    title = "busy cycles x lanes for each pixel covered, by the size of triangles"
    yield from ("", Table([*about, *(Column(side, number) for side in sides)], paid, title))
    yield (
        "Each size is drawn alone. Lanes lit: of the channels of Gen6's threads those whose pixels are seen, of the "
        "other machines' blocks those that a triangle covers. Gen6's cycles are those of its shaders, as coverage and "
        "tests are fixed functions there; the others' are those of all that they carry out."
    )


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
                "instructions": sum(side.mix.values()),
            }
            for name, side in row.sides.items()
        },
    }
