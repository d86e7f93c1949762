"""Illustrations of a comparison for a page or a notebook: picture, where others differ, timelines, curves by size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pixelflow.simd.comparison.grid import GridPoint
from pixelflow.simd.drawing import Comparison
from pixelflow.simd.report import Curves, Illustration, RasterImage, Timeline, TimeSpan

__all__ = ["grid_curves", "pictures_of", "timelines_of"]

_COLOUR_OFF, _DEPTH_OFF = 255, 110
_WIDE = 480
"""Points of a page that small pictures are as wide as."""
_PARTS = 4
"""Of a machine, in the figure of all."""
_LONGEST = 22
"""Letters of a lane's name that a figure has room for."""


def pictures_of(found: Comparison) -> Iterator[Illustration]:
    """Yield the picture of 64-bit integers, and a map of what differs for each machine that has drawn another one.

    White has another colour, grey another depth alone.
    """
    height, width = found.expected.depths.shape
    caption = f"{found.scene}, {width} x {height}, as 64-bit integers draw it"
    scale = max(1, _WIDE // width)
    yield RasterImage(width, height, 3, found.expected.colours.tobytes(), caption, scale)
    for side, apart in zip(found.sides, found.differences, strict=True):
        if apart.colours or apart.depths:
            colours = (side.picture.colours != found.expected.colours).any(axis=2)
            depths = side.picture.depths != found.expected.depths
            shades = np.where(colours, _COLOUR_OFF, np.where(depths, _DEPTH_OFF, 0)).astype(np.uint8)
            caption = f"{side.machine}, white: another colour, grey: another depth alone; {apart.text}"
            yield RasterImage(width, height, 1, shades.tobytes(), caption, scale)


def timelines_of(found: Comparison) -> Iterator[Illustration]:
    """Yield what went on when on all machines, on one scale of time at their clocks, then of each by its cycles.

    A machine of many parts has its first ones in the common figure.
    """
    lanes = []
    for side in found.sides:
        for part, spans in side.timeline[:_PARTS]:
            lanes.append((f"{side.machine}, {part}"[:_LONGEST], [_at(span, 1e3 / side.clock_mhz) for span in spans]))
    if lanes:
        yield Timeline("what goes on when, at each machine's clock", lanes, "ns")
    for side in found.sides:
        if side.timeline:
            yield Timeline(f"{side.machine}: what goes on when", side.timeline)


def _at(span: TimeSpan, scale: float) -> TimeSpan:
    return TimeSpan(span.name, round(span.start * scale), round(span.end * scale))


def grid_curves(points: Sequence[GridPoint]) -> Iterator[Illustration]:
    """Yield cycles and time of pictures of several sizes over their pixels, a line for each machine."""
    names = list(dict.fromkeys(side.machine for point in points for side in point.found.sides))
    for what, key in (("cycles", "cycles"), ("ms", "milliseconds")):
        lines = []
        for name in names:
            drawn = ((point, side) for point in points for side in point.found.sides if side.machine == name)
            lines.append((name, sorted((point.pixels, getattr(side, key)) for point, side in drawn)))
        yield Curves(f"{what} of a picture by its pixels", "pixels of the picture", what, lines)
