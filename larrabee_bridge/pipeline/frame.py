"""A whole picture (neither): a frame is binned, rasterized and drawn tile by tile, all in one call (4.1 to 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from larrabee_bridge.pipeline.back_end import BackEnd, render_back_end
from larrabee_bridge.pipeline.back_end_programs import Attributes
from larrabee_bridge.pipeline.bins import Bins, Quads
from larrabee_bridge.pipeline.rasterizer import Rasterized, rasterize
from larrabee_bridge.pipeline.texture_unit import TextureConfig
from larrabee_bridge.pipeline.work import primset_numbers
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily
from pixelflow.simd.attendance import Telling
from pixelflow.simd.drawing import Draw, Frame, Picture
from pixelflow.simd.lanes.engine import AUTO

# Section numbers are those of Seiler et al. 2008. Frames have triangles on the screen: vertices are the front end's.


PRIMSET = 1000
"""Most triangles of a PrimSet (5.2)."""


class FrameSetting(NamedTuple):
    """Options for drawing a frame; none changes the picture, but for planes in floats (`CoreConfig`)."""

    tile: int = 64
    config: CoreConfig | None = None
    texture: TextureConfig | None = None
    primset: int = PRIMSET
    """Triangles of a PrimSet at most, where no front end has made them."""
    free_setup: bool = False
    """The host computes the planes of triangles, for no cycles."""
    engine: str = AUTO


class LarrabeeRun(NamedTuple):
    """A frame as Larrabee drew it, with its cost; tiles are numbered row by row."""

    frame: Frame
    setting: FrameSetting
    rasters: tuple[Rasterized, ...]
    """Of each draw."""
    back_end: BackEnd

    @property
    def tile(self) -> int:
        """Side of a tile in pixels."""
        return self.setting.tile

    @property
    def picture(self) -> Picture:
        """The picture drawn."""
        return self.back_end.picture

    @property
    def setup_cycles(self) -> int:
        """Cycles of the set-up of all triangles, sixteen side by side, each thread alone on a core."""
        return sum(int(raster.set_up.cycles.sum()) for raster in self.rasters)

    @property
    def plane_cycles(self) -> int:
        """Cycles of the planes of all triangles, counted the same way; 0 if the host computed them."""
        return sum(int(raster.planes.cycles.sum()) for raster in self.rasters)

    @property
    def raster_cycles(self) -> np.ndarray:
        """Cycles of the descents of each tile's triangles, each thread alone on a core: int64[tile]."""
        found = np.zeros(len(self.back_end.quads), np.int64)
        for raster in self.rasters:
            pairs = np.repeat(np.arange(len(found)), np.diff(raster.bins.starts).astype(np.intp))
            np.add.at(found, pairs, raster.descent.cycles)
        return found

    @property
    def instructions(self) -> dict[VectorFamily, int]:
        """Instructions of the rasterizer and of the back end, by family."""
        found = dict(self.back_end.instructions)
        for raster in self.rasters:
            for part in (raster.set_up, raster.planes, raster.descent):
                for family, count in part.instructions.items():
                    found[family] += count
        return found


_USUAL = FrameSetting()


def render_on_larrabee(
    frame: Frame,
    setting: FrameSetting = _USUAL,
    *,
    bins: Sequence[Bins | None] | None = None,
    primsets: Sequence[np.ndarray | None] | None = None,
    progress: Telling | None = None,
) -> LarrabeeRun:
    """Draw a frame and report progress to ``progress``.

    ``bins`` are those of a front end, one for each draw, or None for a draw whose triangles are binned by coverage;
    ``primsets`` are the sequence ids of the front end. A tile reads its triangles in the order of drawing, whichever
    core has binned them (4.3), so neither changes the picture. Raises InputError as `rasterize` and `render_back_end`
    do.
    """
    rasters: list[Rasterized] = []

    def quads(number: int, draw: Draw) -> Quads:
        if progress is not None:
            progress(f"larrabee: draw {number + 1} of {len(frame.draws)} to tiles", share=number / len(frame.draws))
        given = primsets[number] if primsets is not None else None
        config = setting.config or CoreConfig()
        rasters.append(
            rasterize(
                *(draw.triangles, frame.width, frame.height),
                tile=setting.tile,
                samples=frame.samples,
                bins=bins[number] if bins is not None else None,
                config=config,
                primset=primset_numbers(len(draw.triangles), setting.primset) if given is None else given,
                attributes=None if setting.free_setup else Attributes.of(draw, config),
                engine=setting.engine,
            )
        )
        return rasters[-1].quads()

    back_end = render_back_end(
        *(frame, quads, setting.tile, setting.config),
        texture=setting.texture,
        words=lambda number: rasters[number].words,
        engine=setting.engine,
        progress=progress,
    )
    return LarrabeeRun(frame, setting, tuple(rasters), back_end)
