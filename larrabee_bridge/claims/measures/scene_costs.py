"""Cycles of large scenes: rasterizer and back end of every tile executed, as `render` counts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from larrabee_bridge.claims.bench import SceneBench
from larrabee_bridge.pipeline.backend import render_back_end
from larrabee_bridge.pipeline.raster.rasterizer import Rasterized, rasterize
from larrabee_bridge.pipeline.scheduling import FrameWork, measured_work, primset_numbers
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.simd.drawing import Draw, Frame, ScreenTriangles

__all__ = ["PRIMSETS", "SceneCosts", "costs_of"]

LENGTH = 50
"""Vector operations that a shader has more than it needs."""
PRIMSETS = (1000, 200)
"""Triangles of a PrimSet: the most that there are, and fewer."""
_TILE = 64


@dataclass(frozen=True, slots=True, eq=False)
class SceneCosts:
    """What a scene takes in cycles of a core on which four threads take turns; nothing of its blocks is kept."""

    works: Mapping[int, FrameWork]
    """The frame by PrimSets of each size: their front end without vertices, and the back end of every tile."""
    executed: int
    """Tiles of the screen, whose back end was executed; those without a triangle have no cycles."""

    @property
    def raster_share(self) -> float:
        """Share of the rasterizer in the cycles of rasterizer and back end, with the larger PrimSets."""
        work = self.works[PRIMSETS[0]]
        return int(work.front.sum()) / work.cycles


def costs_of(bench: SceneBench, name: str) -> SceneCosts:
    """Return the costs of a scene, worked out once on a bench; vertices are left out."""
    return bench.once(f"costs of {name}", lambda: _costs(name, bench.frame(name)))


def _costs(name: str, frame: Frame) -> SceneCosts:
    config, frame = CoreConfig(caches=True), _by_state(frame)
    rasters = {primset: _rasterized(frame, primset, config) for primset in PRIMSETS}
    quads = [each.quads() for each in rasters[PRIMSETS[0]]]
    tiles = render_back_end(frame, quads, _TILE, config, length=LENGTH).cycles
    works = {primset: measured_work(name, found, tiles) for primset, found in rasters.items()}
    return SceneCosts(works, len(tiles))


def _rasterized(frame: Frame, primset: int, config: CoreConfig) -> list[Rasterized]:
    size = frame.width, frame.height
    return [
        rasterize(
            *(draw.triangles, *size),
            tile=_TILE,
            samples=frame.samples,
            config=config,
            primset=primset_numbers(len(draw.triangles), primset),
        )
        for draw in frame.draws
    ]


def _by_state(frame: Frame) -> Frame:
    """Return draws that follow each other in one state as one, as a driver would send them; others as they are."""
    draws = []
    for _, group in groupby(frame.draws, key=lambda each: each.state if each.state.texture is None else id(each)):
        first, *others = group
        if others:
            triangles = ScreenTriangles.joined([first.triangles, *(each.triangles for each in others)])
            first = Draw(first.name, triangles, first.state)
        draws.append(first)
    return replace(frame, draws=tuple(draws))
