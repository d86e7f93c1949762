"""Bench of the claims: scenes and camera paths passed in by the caller, each made on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType

import numpy as np

from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.back_end_programs import Attributes
from larrabee_bridge.pipeline.front_end import FrontEndResult
from larrabee_bridge.pipeline.picture import front_of_screen
from larrabee_bridge.pipeline.rasterizer import Rasterized, rasterize
from larrabee_bridge.pipeline.schedule import FrameWork
from larrabee_bridge.pipeline.work import measured_work, primset_numbers
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.evidence import Bench, NotMeasured, Number
from pixelflow.simd.drawing import Draw, Frame, ScreenTriangles, snap
from pixelflow.simd.errors import InputError

Printed = Mapping[str, Number]
"""The printed figures of a claim, for results stated relative to them; nothing executed depends on them."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenFrame:
    """A frame and the front end of each draw; None for draws whose triangles were generated on the screen."""

    frame: Frame
    fronts: Sequence[FrontEndResult | None]


class SceneBench(Bench):
    """Frames by name, and frames along a camera path by name and number."""

    def __init__(
        self,
        scenes: Mapping[str, Callable[[], Frame]] = MappingProxyType({}),
        ways: Mapping[str, Callable[[int], SeenFrame]] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self.scenes, self.ways = scenes, ways

    def frame(self, name: str) -> Frame:
        """Return a scene; raises NotMeasured if the caller passed no such name, or the scene cannot be made here."""
        if name not in self.scenes:
            raise NotMeasured(f"needs a scene named {name}, which was not given")
        try:
            return self.once(("scene", name), self.scenes[name])
        except InputError as fault:
            raise NotMeasured(f"the scene {name} cannot be made: {' '.join(str(fault).split())}") from None

    def seen(self, name: str, frame: int) -> SeenFrame:
        """Return a frame of a camera path, made anew each time; raises NotMeasured as `frame` does."""
        if name not in self.ways:
            raise NotMeasured(f"needs a way named {name}, which was not given")
        try:
            return self.ways[name](frame)
        except InputError as fault:
            raise NotMeasured(f"the way {name} cannot be made: {' '.join(str(fault).split())}") from None


# Triangles of known sizes on a screen, for measures of the effect of a triangle's area.


_JITTER = 0.3
"""How far corners of an even mesh move, at most, as a share of its cells' sides."""


def even_mesh(width: int, height: int, area: float, layers: int = 1, seed: int = 1) -> ScreenTriangles:
    """Return a mesh over the whole screen, and a little more, of triangles of about ``area`` pixels.

    Cells of a square grid are halved, and corners moved at random. Layers follow each other, moved independently.
    """
    rng = np.random.default_rng(seed)
    side = np.sqrt(2 * area)
    columns, rows = (int(np.ceil(size / side)) + 2 for size in (width, height))
    number = np.arange((columns + 1) * (rows + 1)).reshape(rows + 1, columns + 1)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    index = np.stack([np.stack([a, b, c], axis=-1), np.stack([b, d, c], axis=-1)], axis=2).reshape(-1, 3)
    x, y = np.meshgrid(np.arange(columns + 1), np.arange(rows + 1))
    grid = np.stack([x, y], axis=-1).reshape(-1, 2) - 1
    moved = [side * (grid + rng.uniform(-_JITTER, _JITTER, grid.shape)) for _ in range(layers)]
    return _gray(np.concatenate([layer[index] for layer in moved]))


def equilateral(area: float, count: int, seed: int = 1) -> ScreenTriangles:
    """Return equilateral triangles of an area in pixels, each turned and moved at random, all near the origin."""
    rng = np.random.default_rng(seed)
    radius = np.sqrt(4 * area / (3 * np.sqrt(3)))
    angle = rng.uniform(0, 2 * np.pi, (count, 1)) + np.arange(3) * 2 * np.pi / 3
    middle = radius + 1 + rng.uniform(0, 64, (count, 1, 2))
    return _gray(middle + radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1))


def _gray(points: np.ndarray) -> ScreenTriangles:
    return snap(points, np.full(points.shape[:2], 0.5), np.full((*points.shape[:2], 3), 128))


# Cycles of large scenes: front end, planes, rasterizer, back end of every tile executed, as `render` counts them.


LENGTH = 50
"""Vector operations added to every shader."""
PRIMSETS = (1000, 200)
"""Triangles of a PrimSet: the most that there are, and fewer."""
_TILE = 64


@dataclass(frozen=True, slots=True, eq=False)
class SceneCosts:
    """Cycles of a scene on a core on which four threads take turns."""

    works: Mapping[int, FrameWork]
    """The frame by PrimSets of each size: all of their front end, and the back end of every tile."""
    raster: int
    """Cycles of set-up and descents alone, on the same cores, with the larger PrimSets."""
    executed: int
    """Tiles of the screen, whose back end was executed; those without a triangle have no cycles."""

    @property
    def raster_share(self) -> float:
        """Share of the rasterizer, set-up and descents, in all cycles, with the larger PrimSets."""
        return self.raster / self.works[PRIMSETS[0]].cycles


def costs_of(bench: SceneBench, name: str) -> SceneCosts:
    """Return the costs of a scene, computed once on a bench."""
    return bench.once(f"costs of {name}", lambda: _costs(name, bench.frame(name)))


def _costs(name: str, frame: Frame) -> SceneCosts:
    config, frame = CoreConfig(caches=True), _by_state(frame)
    fronts = {
        primset: [front_of_screen(frame, draw.triangles, _TILE, config, primset=primset) for draw in frame.draws]
        for primset in PRIMSETS
    }
    rasters = {primset: _rasterized(frame, made, primset, config, planes=True) for primset, made in fronts.items()}
    usual = PRIMSETS[0]
    quads = [each.quads() for each in rasters[usual]]
    tiles = render_back_end(frame, quads, _TILE, config, length=LENGTH).cycles
    works = {primset: measured_work(name, found, tiles, fronts[primset]) for primset, found in rasters.items()}
    without = _rasterized(frame, fronts[usual], usual, config, planes=False)
    return SceneCosts(works, sum(core.cycles for each in without for core in each.cores.values()), len(tiles))


def _rasterized(
    frame: Frame, fronts: Sequence[FrontEndResult | None], primset: int, config: CoreConfig, *, planes: bool
) -> list[Rasterized]:
    size = frame.width, frame.height
    return [
        rasterize(
            *(draw.triangles, *size),
            tile=_TILE,
            samples=frame.samples,
            bins=None if front is None else front.bins,
            config=config,
            primset=primset_numbers(len(draw.triangles), primset),
            attributes=Attributes.of(draw) if planes else None,
        )
        for draw, front in zip(frame.draws, fronts, strict=True)
    ]


def _by_state(frame: Frame) -> Frame:
    """Join consecutive draws in the same state, as a driver would send them."""
    draws = []
    for _, group in groupby(frame.draws, key=lambda each: each.state if each.state.texture is None else id(each)):
        first, *others = group
        if others:
            triangles = ScreenTriangles.joined([first.triangles, *(each.triangles for each in others)])
            first = Draw(first.name, triangles, first.state)
        draws.append(first)
    return replace(frame, draws=tuple(draws))
