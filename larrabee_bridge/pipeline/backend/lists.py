"""Room for sorted fragments: how much of it a frame may need in each tile, and where it lies.

Lists grow while a tile is drawn and have no limit: a work thread takes page after page of memory, twelve bytes for a
fragment. Here memory is put aside for as many as the quads of sorted draws can have; only what is taken is touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.pipeline.backend.programs import Attributes, constants_of
from larrabee_bridge.pipeline.coverage.quads import QUAD, Quads
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.unit.program import LINE_BYTES
from pixelflow.simd.drawing import Blend, Draw

__all__ = ["WORKERS", "ListRoom", "list_bytes", "list_room", "worker_of"]

WORKERS = 3
"""Work threads of a core (Seiler et al. 2008, 4.5)."""

_PLACE_BYTES = 2 * LINE_BYTES
"""Of the scratch memory in which `lists.mc` sorts: a line of depths, one of colours."""


@dataclass(frozen=True, slots=True, eq=False)
class ListRoom:
    """Bytes that the lists of tiles may take, multiples of a stream's: int64[tile, work thread] each."""

    scratch: NDArray[np.int64]
    pages: NDArray[np.int64]
    """With the line that says where the next fragment goes."""

    def of(self, tiles: NDArray[np.int64]) -> ListRoom:
        """Return that of some tiles."""
        return ListRoom(self.scratch[tiles], self.pages[tiles])

    @property
    def bytes(self) -> NDArray[np.int64]:
        """All of a tile: int64[tile]."""
        return (self.scratch + self.pages).sum(axis=1)


def worker_of(quads: Quads, tile: int) -> NDArray[np.int64]:
    """Return the work thread of each quad: int64[quad]."""
    return (quads.x % tile // QUAD + quads.y % tile // QUAD) % WORKERS


def list_room(draws: Sequence[Draw], quads: Sequence[Quads], tile: int, tiles: int, samples: int) -> ListRoom:
    """Return the room for the lists of a frame; none at all where it has no sorted draws."""
    shape = (tiles, WORKERS)
    some = [each for draw, each in zip(draws, quads, strict=True) if draw.state.blend is Blend.SORTED]
    if not some:
        return ListRoom(np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    layout, side = constants_of(samples, True, Attributes()), tile // QUAD
    counts, blocks = np.zeros(tiles * WORKERS, np.int64), np.zeros(tiles * side * side, np.int64)
    for each in some:
        counts += np.bincount(each.tile * WORKERS + worker_of(each, tile), minlength=len(counts))
        block = each.y % tile // QUAD * side + each.x % tile // QUAD
        blocks += np.bincount(each.tile * side * side + block, minlength=len(blocks))
    longest = blocks.reshape(tiles, -1).max(axis=1)
    scratch = np.repeat(_PLACE_BYTES * longest[:, None], WORKERS, axis=1)
    scratch += -scratch % layout["STREAM"]
    # The end of a page is left where sixteen more might not fit.
    held = layout["STREAM"] // 4 - LANES
    pages = 1 + -(-LANES * samples * counts.reshape(shape) // held)
    return ListRoom(scratch, layout["STREAM"] + layout["PAGE"] * pages)


def list_bytes(where: NDArray[np.int64], pointers: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return what lists have taken whose rooms begin at ``where``, from their pointers to the next fragment."""
    layout = constants_of(1, True, Attributes())
    page, within = np.divmod(pointers - where - layout["STREAM"], layout["PAGE"])
    return 3 * (layout["STREAM"] * page + within)
