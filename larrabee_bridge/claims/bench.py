"""Bench of the claims: scenes and camera paths passed in by the caller, and results kept from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.back_end_programs import Attributes
from larrabee_bridge.pipeline.frame import PRIMSET
from larrabee_bridge.pipeline.front_end import FrontEndResult
from larrabee_bridge.pipeline.picture import front_of_screen
from larrabee_bridge.pipeline.rasterizer import rasterize
from larrabee_bridge.pipeline.schedule import FrameWork
from larrabee_bridge.pipeline.work import measured_work, primset_numbers
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.evidence import Bench, NotMeasured, Number, Remark, return_pages
from pixelflow.simd.drawing import Frame, ScreenTriangles, draw_frame, snap
from pixelflow.simd.errors import InputError
from pixelflow.simd.report import counted
from pixelflow.simd.store import FIGURES, key_of, store

_Made = TypeVar("_Made")

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
        ways: Mapping[str, Callable[[int, int], SeenFrame]] = MappingProxyType({}),
        *,
        sources: str = "",
    ) -> None:
        """``ways`` take the number of a frame and the most triangles of a PrimSet.

        ``sources`` is a hash of all that frames depend on: results are kept under it for the next process.
        """
        super().__init__()
        self.scenes, self.ways, self.sources = scenes, ways, sources
        self.earlier = 0
        """Results that an earlier process has kept."""

    def kept(self, key: str, of: type[_Made], compute: Callable[[], _Made]) -> _Made:
        """Return what ``compute`` gives, once on this bench, or by an earlier process from the same sources."""

        def found() -> _Made:
            if not self.sources:
                return compute()
            name = key_of(self.sources, key)
            there = store().get_object(FIGURES, name, of)
            self.earlier += there is not None
            if there is None:
                there = compute()
                store().put_object(FIGURES, name, there)
            return there

        return self.once(key, found)

    def remarks(self) -> tuple[Remark, ...]:
        """Return how many results are of an earlier process."""
        if not self.earlier:
            return ()
        text = f"{counted(self.earlier, 'result')} of drawn frames kept from an earlier run of the same files"
        return (Remark("kept", f"{text}; `pixelflow cache --clear` has them drawn again", self.earlier),)

    def frame(self, name: str) -> Frame:
        """Return a scene, made anew each time, since it is large.

        Raises NotMeasured if the caller passed no such name, or the scene cannot be made here.
        """
        if name not in self.scenes:
            raise NotMeasured(f"needs a scene named {name}, which was not given")
        try:
            return self.scenes[name]()
        except InputError as fault:
            raise NotMeasured(f"the scene {name} cannot be made: {' '.join(str(fault).split())}") from None

    def seen(self, name: str, frame: int, primset: int = PRIMSET) -> SeenFrame:
        """Return a frame of a camera path, made anew each time; raises NotMeasured as `frame` does."""
        if name not in self.ways:
            raise NotMeasured(f"needs a way named {name}, which was not given")
        try:
            return self.ways[name](frame, primset)
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


# Whole frames, drawn once: front end, planes, rasterizer, back end of every tile executed, as `render` counts them.


LENGTH = 50
"""Vector operations added to every shader."""
PRIMSETS = (PRIMSET, 200)
"""Triangles of a PrimSet: the most that there are, and fewer."""
TILE = 64


class FrameCosts(NamedTuple):
    """Cycles of a frame by stage, on cores on which four threads take turns, with the larger PrimSets."""

    vertices: int
    """Vertices, assembly, cutting, boxes and bins."""
    raster: int
    """Set-up of triangles and descents."""
    planes: int
    pixels: int
    """Back end of all tiles, under the lengthened shader."""
    works: Mapping[int, FrameWork]
    """The frame by PrimSets of each size: all of their front end, and the back end of every tile."""
    utilisation: float
    """Share of the lanes of all blocks of 4x4 pixels that a triangle covers."""
    same: bool
    """True if the picture is the one of 64-bit integers."""

    @property
    def cycles(self) -> int:
        """All cycles."""
        return self.vertices + self.raster + self.planes + self.pixels

    @property
    def parts(self) -> Mapping[str, float]:
        """Shares in all cycles, by stage."""
        return {name: getattr(self, name) / self.cycles for name in STAGES}


STAGES = ("vertices", "raster", "planes", "pixels")


def drawn(seen: SeenFrame, smaller: SeenFrame | None = None) -> FrameCosts:
    """Draw a whole frame, vertices included, with caches; draws without a front end start from their triangles.

    ``smaller`` is the same frame in the smaller PrimSets, whose work is then found too: the same triangles in the same
    bins, so they are rasterized once.
    """
    config, frame = CoreConfig(caches=True), seen.frame
    seens = [seen] if smaller is None else [seen, smaller]
    fronts: list[list[FrontEndResult | None]] = [[] for _ in seens]
    quads, rasters = [], []
    for number, draw in enumerate(frame.draws):
        primsets = []
        for found, each, primset in zip(fronts, seens, PRIMSETS, strict=False):
            made = each.fronts[number]
            primsets.append(primset_numbers(len(draw.triangles), primset) if made is None else made.primset)
            found.append(made or front_of_screen(frame, draw.triangles, TILE, config, primset=primset))
        front = fronts[0][-1]
        raster = rasterize(
            *(draw.triangles, frame.width, frame.height),
            tile=TILE,
            samples=frame.samples,
            bins=None if front is None else front.bins,
            config=config,
            primset=primsets[0],
            regrouped=primsets[1:],
            attributes=Attributes.of(draw, config),
        )
        quads.append(raster.quads())
        rasters.append(raster.account)
        del raster  # its blocks are large
        return_pages()
    back = render_back_end(frame, quads, TILE, config, length=LENGTH)
    tiles, moved = back.cycles, back.memory_bytes
    works = {}
    for place, (primset, found) in enumerate(zip(PRIMSETS, fronts, strict=False)):
        grouped = [each._replace(cores=(each.cores, *each.regrouped)[place]) for each in rasters]
        works[primset] = measured_work("frame", grouped, tiles, found, moved)
    vertices = sum(int(front.cycles.sum()) for front in fronts[0] if front is not None)
    raster_cycles = sum(each.before_planes for each in rasters)
    whole = sum(core.cycles for each in rasters for core in each.cores.values())
    return_pages()
    same = back.picture.equals(draw_frame(frame))
    return_pages()
    return FrameCosts(vertices, raster_cycles, whole - raster_cycles, int(tiles.sum()), works, back.utilisation, same)


# Frames along a camera path.


PLAIN, SHADOWED = "walk", "walk with shadow volumes"
"""The same frames without and with volumes."""
LARGE, LARGE_SHADOWED = f"{PLAIN}, 1600x1200", f"{SHADOWED}, 1600x1200"
"""The same frames at the paper's size."""
CAMERAS = (4, 12, 20)
"""Of the 25 positions along the path, which is the number of frames in figures 13 and 14."""


def walk(bench: SceneBench, name: str) -> list[FrameCosts]:
    """Return the costs of frames of a camera path, each drawn once."""
    return [bench.kept(f"{name}, camera {at}", FrameCosts, partial(_seen_and_drawn, bench, name, at)) for at in CAMERAS]


def _seen_and_drawn(bench: SceneBench, name: str, at: int) -> FrameCosts:
    # The triangles are those of the larger PrimSets.
    seen, smaller = bench.seen(name, at), [each and each.account for each in bench.seen(name, at, PRIMSETS[1]).fronts]
    return drawn(seen, replace(seen, fronts=smaller))
