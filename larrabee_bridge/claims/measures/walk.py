"""Measures along a way of the camera: the stages of whole frames, from vertices on, with shadow volumes and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from larrabee_bridge.claims.bench import Printed, SceneBench, SeenFrame
from larrabee_bridge.claims.measures.scene_costs import LENGTH, PRIMSETS
from larrabee_bridge.pipeline.backend.programs import Attributes
from larrabee_bridge.pipeline.backend.render import render_back_end
from larrabee_bridge.pipeline.frame.screen import front_of_screen
from larrabee_bridge.pipeline.raster.rasterizer import rasterize
from larrabee_bridge.pipeline.scheduling import primset_numbers
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.evidence import Measured, Value
from pixelflow.simd.drawing import draw_frame

__all__ = ["CAMERAS", "PLAIN", "SHADOWED", "StageShares", "frames_of_the_way", "stages_of", "stages_of_the_way"]

CAMERAS = 25
"""Places of the camera along the way, as many as frames in figures 13 and 14."""
PLAIN, SHADOWED = "walk", "walk with shadow volumes"
"""The same frames without and with volumes."""
_TILE = 64


@dataclass(frozen=True, slots=True)
class StageShares:
    """Cycles of a frame, of cores on which four threads take turns, by what they are for."""

    vertices: int
    """Vertices, assembly, cutting, boxes and bins."""
    raster: int
    """Set-up of triangles and descents."""
    planes: int
    pixels: int
    """The back end of all tiles, under the stated shader."""
    same: bool
    """Whether the picture is the one of 64-bit integers."""

    @property
    def cycles(self) -> int:
        """All cycles."""
        return self.vertices + self.raster + self.planes + self.pixels

    @property
    def parts(self) -> Mapping[str, float]:
        """Shares in all cycles, by stage."""
        each = {"vertices": self.vertices, "raster": self.raster, "planes": self.planes, "pixels": self.pixels}
        return {name: cycles / self.cycles for name, cycles in each.items()}


def stages_of(seen: SeenFrame) -> StageShares:
    """Carry a frame out with caches, whole, from its vertices on; generated draws from those on the screen."""
    config, frame = CoreConfig(caches=True), seen.frame
    fronts = [
        front or front_of_screen(frame, draw.triangles, _TILE, config)
        for front, draw in zip(seen.fronts, frame.draws, strict=True)
    ]
    rasters = {
        planes: [
            rasterize(
                *(draw.triangles, frame.width, frame.height),
                tile=_TILE,
                samples=frame.samples,
                bins=None if front is None else front.bins,
                config=config,
                primset=primset_numbers(len(draw.triangles), PRIMSETS[0]) if made is None else made.primset,
                attributes=Attributes.of(draw) if planes else None,
            )
            for draw, front, made in zip(frame.draws, fronts, seen.fronts, strict=True)
        ]
        for planes in (False, True)
    }
    raster, whole = (
        sum(core.cycles for each in rasters[planes] for core in each.cores.values()) for planes in (False, True)
    )
    quads = [each.quads() for each in rasters[True]]
    back_end = render_back_end(frame, quads, _TILE, config, length=LENGTH)
    vertices = sum(int(front.cycles.sum()) for front in fronts if front is not None)
    same = back_end.picture.equals(draw_frame(frame))
    return StageShares(vertices, raster, whole - raster, int(back_end.cycles.sum()), same)


def stages_of_the_way(bench: SceneBench, printed: Printed) -> Measured:
    """Return the rasterizer's share over all frames of the way, without volumes and with them."""
    plain, shadowed = (_way(bench, name) for name in (PLAIN, SHADOWED))
    found = {name: _together(frames) for name, frames in ((PLAIN, plain), (SHADOWED, shadowed))}
    text = "; ".join(f"{name}: {_shown(shares)}" for name, shares in found.items())
    text += f"; {_drawn(plain + shadowed)}"
    figures: dict[str, Value] = {
        f"{stage}_{which}": round(share, 4)
        for which, shares in (("plain", found[PLAIN]), ("shadowed", found[SHADOWED]))
        for stage, share in shares.items()
    }
    shares = {which: {"mean of 25": figures[f"raster_{which}"]} for which in ("plain", "shadowed")}
    return Measured(text, figures, {"games": shares["plain"], "volumes": shares["shadowed"]})


def frames_of_the_way(bench: SceneBench, printed: Printed) -> Measured:
    """Return how far the rasterizer's share, and the cycles, go up and down from frame to frame."""
    parts, figures = [], dict[str, Value]()
    for name, key in ((PLAIN, "plain"), (SHADOWED, "shadowed")):
        frames = _way(bench, name)
        shares, cycles = [each.parts["raster"] for each in frames], [each.cycles for each in frames]
        parts.append(
            f"{name}: rasterizer {min(shares):.1%} to {max(shares):.1%}, "
            f"{min(cycles) / 1e6:.1f} to {max(cycles) / 1e6:.1f} million cycles"
        )
        figures |= {f"least_{key}": round(min(shares), 4), f"most_{key}": round(max(shares), 4)}
        figures |= {f"least_cycles_{key}": min(cycles), f"most_cycles_{key}": max(cycles)}
    return Measured("; ".join(parts), figures)


def _together(frames: Sequence[StageShares]) -> dict[str, float]:
    """Return the shares of stages in the cycles of all frames."""
    stages = ("vertices", "raster", "planes", "pixels")
    whole = sum(each.cycles for each in frames)
    return {stage: sum(getattr(each, stage) for each in frames) / whole for stage in stages}


def _shown(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{stage} {share:.1%}" for stage, share in shares.items())


def _drawn(frames: Sequence[StageShares]) -> str:
    same = sum(each.same for each in frames)
    return f"{same} of {len(frames)} pictures those of 64-bit integers"


def _way(bench: SceneBench, name: str) -> list[StageShares]:
    """Return the stages of all frames of a way, worked out once on a bench."""
    return bench.once(f"stages of {name}", lambda: [stages_of(bench.seen(name, at)) for at in range(CAMERAS)])
