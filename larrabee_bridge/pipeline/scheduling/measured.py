"""Work from programs that ran: front end and set-up by PrimSet, descents and back end by tile.

A descent may be carried out by a PrimSet's threads in the front end, or by the set-up thread of the back end. Which it
is, is chosen here for all who ask: the set-up thread, where nothing else is said. Bytes of bins are counted with masks
either way (`larrabee_bridge.pipeline.traffic`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal

import numpy as np

from larrabee_bridge.pipeline.backend import BackEnd
from larrabee_bridge.pipeline.front_end import FrontEndResult
from larrabee_bridge.pipeline.raster.rasterizer import Rasterized
from larrabee_bridge.pipeline.scheduling.costs import primset_numbers
from larrabee_bridge.pipeline.scheduling.work import FrameWork
from larrabee_bridge.vpu.isa import LANES
from pixelflow.simd.errors import Fault, InputError

__all__ = ["measured_work"]

_TRIANGLES_A_THREAD = LANES
"""That one thread of the rasterizer sets up."""


def measured_work(
    name: str,
    triangles: Sequence[int],
    rasterized: Sequence[Rasterized],
    tiles: BackEnd | np.ndarray,
    *,
    primset: int = 1000,
    fronts: Sequence[FrontEndResult | None] = (),
    descent: Literal["back", "front"] = "back",
    frame: int = 0,
    reads: tuple[str, ...] = (),
    writes: tuple[str, ...] = ("back buffer",),
) -> FrameWork:
    """Return the work of a frame from its draws and its back end; ``tiles`` may be int64[tile] for ``descent="front"``.

    ``triangles`` counts those of each draw, and ``rasterized`` is what the rasterizer made of each. A draw that one of
    ``fronts`` has made has that front end's PrimSets and their cycles; ``primset`` is for the others.

    A PrimSet takes the cycles of its threads one after the other, each alone: front end, and set-up, where the first of
    sixteen triangles stands for all that a thread sets up. ``descent`` says who carries out the descents: the set-up
    threads of the tiles, beside their work threads (`Accounts.together`), or the front end, with the PrimSets of their
    triangles. Only tiles with entries are bins. Raises InputError for draws on different tiles, for counts that do not
    fit each other, and for cycles of tiles that do not tell those of their threads where descents are added to them.
    """
    if descent not in ("back", "front"):
        raise InputError(Fault(f"{name}: descents by {descent!r}", hint="allowed: 'back', 'front'"))
    if len({(each.bins.tile, each.bins.columns, each.bins.rows) for each in rasterized}) > 1:
        raise InputError(Fault(f"{name}: its draws were not rasterized on the same tiles"))
    if len(triangles) != len(rasterized) or len(fronts) not in (0, len(triangles)):
        given = f"{name}: {len(triangles)} draws, {len(rasterized)} rasterized, {len(fronts)} from a front end"
        raise InputError(Fault(given))
    cycles = tiles.cycles if isinstance(tiles, BackEnd) else tiles
    if rasterized and len(cycles) != rasterized[0].bins.columns * rasterized[0].bins.rows:
        raise InputError(Fault(f"{name}: cycles of {len(cycles)} tiles, rasterized on others"))
    entries, descents = np.zeros((2, len(cycles)), np.int64)
    front = []
    for count, raster, made in zip_longest(triangles, rasterized, fronts):
        numbers = primset_numbers(count, primset) if made is None else made.primset
        front.append(np.zeros(-(-count // primset), np.int64) if made is None else made.cycles.copy())
        np.add.at(front[-1], numbers[::_TRIANGLES_A_THREAD], raster.set_up.cycles[: -(-count // _TRIANGLES_A_THREAD)])
        entries += np.diff(raster.bins.starts)
        if descent == "front":
            np.add.at(front[-1], numbers[raster.bins.triangles], raster.descent.cycles)
        else:
            np.add.at(descents, raster.tiles, raster.descent.cycles)
    if descent == "back":
        if not isinstance(tiles, BackEnd):
            given = f"{name}: cycles of tiles as a whole, and descents that their set-up threads carry out"
            raise InputError(Fault(given, hint='give the BackEnd, or descent="front"'))
        cycles = tiles.accounts.together(descents)
    filled = entries > 0
    every = np.concatenate([*front, np.zeros(0, np.int64)])
    return FrameWork(
        name,
        every if len(every) else np.zeros(1, np.int64),
        cycles[filled] if filled.any() else np.zeros(1, np.int64),
        reads,
        writes,
        frame,
    )
