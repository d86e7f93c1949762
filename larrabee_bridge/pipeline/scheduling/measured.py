"""Work from programs that ran: vertices, set-up and descents by PrimSet, back end by tile.

Descents are carried out by the threads of the front end, which leave masks in the bins (Seiler et al. 2008, figure 7;
the bytes of bins are counted so, too). Four threads take turns on a core, in every part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from larrabee_bridge.pipeline.backend import BackEnd
from larrabee_bridge.pipeline.front_end import FrontEndResult
from larrabee_bridge.pipeline.raster.rasterizer import Rasterized
from larrabee_bridge.pipeline.scheduling.work import FrameWork
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted

__all__ = ["measured_work"]


def measured_work(
    name: str,
    rasterized: Sequence[Rasterized],
    tiles: BackEnd | np.ndarray,
    *,
    fronts: Sequence[FrontEndResult | None] = (),
    frame: int = 0,
    reads: tuple[str, ...] = (),
    writes: tuple[str, ...] = ("back buffer",),
) -> FrameWork:
    """Return the work of a frame from its draws and its back end, or the cycles of its tiles: int64[tile].

    ``rasterized`` is what the rasterizer made of each draw, by PrimSets; one that one of ``fronts`` has made has that
    front end's PrimSets, and their cycles. Only tiles with entries are bins. Raises InputError for draws on different
    tiles, or rasterized without PrimSets, and for counts that do not fit each other.
    """
    if len({(each.bins.tile, each.bins.columns, each.bins.rows) for each in rasterized}) > 1:
        raise InputError(Fault(f"{name}: its draws were not rasterized on the same tiles"))
    if len(fronts) not in (0, len(rasterized)):
        raise InputError(Fault(f"{name}: {counted(len(rasterized), 'draw')}, {len(fronts)} from a front end"))
    cycles = tiles.cycles if isinstance(tiles, BackEnd) else tiles
    if rasterized and len(cycles) != rasterized[0].bins.columns * rasterized[0].bins.rows:
        raise InputError(Fault(f"{name}: cycles of {counted(len(cycles), 'tile')}, rasterized on others"))
    entries = np.zeros(len(cycles), np.int64)
    front = []
    for raster, made in zip_longest(rasterized, fronts):
        if not raster.cores and len(raster.set_up.cycles) and raster.bins.entries:
            raise InputError(Fault(f"{name}: a draw was rasterized without its PrimSets"))
        most = max(raster.cores, default=-1) + 1
        spent = np.zeros(most if made is None else max(most, len(made.cycles)), np.int64)
        if made is not None:
            spent[: len(made.cycles)] += made.cycles
        for primset, core in raster.cores.items():
            spent[primset] += core.cycles
        front.append(spent)
        entries += np.diff(raster.bins.starts)
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
