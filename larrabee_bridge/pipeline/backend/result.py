"""What the back end of a frame came to: the picture, the cycles of each tile, and counts.

Bytes between tiles and memory are counted by `larrabee_bridge.pipeline.traffic`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from larrabee_bridge.pipeline.backend.accounts import Accounts
from larrabee_bridge.pipeline.backend.programs import TileStage
from larrabee_bridge.pipeline.backend.texture_unit import TileTextureUnit
from larrabee_bridge.pipeline.coverage.quads import QUAD
from larrabee_bridge.vpu.isa import VectorFamily, vector_share
from pixelflow.simd.drawing import Picture

__all__ = ["BackEnd"]


@dataclass(frozen=True, slots=True, eq=False)
class BackEnd:
    """A frame drawn tile by tile; tiles are counted row by row, ``columns`` in a row."""

    picture: Picture
    tile: int
    columns: int
    accounts: Accounts
    texture: TileTextureUnit
    tile_bytes: int
    """Pixels of a tile in a core's memory: colours and depths of all samples, and where lists of fragments begin."""
    list_bytes: np.ndarray
    """What lists of sorted fragments took in each tile: int64[tile]."""
    quads: np.ndarray
    """int64[tile]."""
    covered: int
    """Lanes of all quads that a triangle covers in some sample."""

    @property
    def threads(self) -> np.ndarray:
        """Cycles of each thread of a tile, alone on a core: int64[tile, 4], the set-up thread first."""
        return self.accounts.cycles

    @property
    def cycles(self) -> np.ndarray:
        """Cycles that a core takes for each tile, its four threads taking turns: int64[tile]."""
        return self.accounts.turns()

    @property
    def fits_l2(self) -> bool:
        """Whether a tile's pixels fit the slice of the L2 cache that belongs to a core, as 4.1 has it.

        Of 256 KB, 128x128 pixels take a half with one sample, twice as much with four; 64x64 a half with four samples.
        Lists of sorted fragments are counted as far as they grew, in the tile where they are longest. The data of
        triangles, and of quads on their way between threads, are not in it.
        """
        return self.tile_bytes + int(self.list_bytes.max(initial=0)) <= self.accounts.config.l2_bytes

    @property
    def stages(self) -> dict[TileStage, np.ndarray]:
        """Cycles of all four threads of a tile by stage: int64[tile] each; together they are those of ``threads``."""
        return self.accounts.stages

    @property
    def instructions(self) -> dict[VectorFamily, int]:
        """Instructions carried out, by family."""
        return self.accounts.families

    @property
    def vector_share(self) -> float:
        """Share of the vector unit's instructions in all; 0 without any."""
        return vector_share(self.instructions) or 0.0

    @property
    def utilisation(self) -> float:
        """Share of the lanes of all quads that a triangle covers in some sample; 0 without quads."""
        quads = int(self.quads.sum())
        return self.covered / (QUAD * QUAD * quads) if quads else 0.0
