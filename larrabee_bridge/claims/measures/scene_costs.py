"""Cycles of large scenes: front end, planes, rasterizer, back end of every tile executed, as `render` counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from larrabee_bridge.claims.bench import SceneBench
from larrabee_bridge.pipeline.backend.programs import Attributes
from larrabee_bridge.pipeline.backend.render import render_back_end
from larrabee_bridge.pipeline.frame.screen import front_of_screen
from larrabee_bridge.pipeline.front_end import FrontEndResult
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
    """Return the costs of a scene, worked out once on a bench."""
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
    works = {primset: measured_work(name, found, tiles, fronts=fronts[primset]) for primset, found in rasters.items()}
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
    """Return draws that follow each other in one state as one, as a driver would send them; others as they are."""
    draws = []
    for _, group in groupby(frame.draws, key=lambda each: each.state if each.state.texture is None else id(each)):
        first, *others = group
        if others:
            triangles = ScreenTriangles.joined([first.triangles, *(each.triangles for each in others)])
            first = Draw(first.name, triangles, first.state)
        draws.append(first)
    return replace(frame, draws=tuple(draws))
