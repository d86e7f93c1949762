"""How long the rasterizer takes where four threads share a core, and what its bit scans are worth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from larrabee_bridge.pipeline.coverage.binning import Bins
from larrabee_bridge.pipeline.raster.rasterizer import Rasterized, rasterize
from larrabee_bridge.pipeline.raster.runs import Descent, SetUp, uncut
from larrabee_bridge.vpu.core import CoreConfig, SharedCore, take_turns
from larrabee_bridge.vpu.unit.note import RunNote
from pixelflow.simd.drawing import ScreenTriangles
from pixelflow.simd.errors import Fault, InputError

__all__ = ["Ablation", "Together", "ablation", "together"]


@dataclass(frozen=True, slots=True)
class Together:
    """A sample of pairs on one core: its threads take one pair after the other."""

    pairs: int
    threads: int
    alone: float
    """Cycles a pair where a thread has the core for itself."""
    shared: SharedCore

    @property
    def cycles(self) -> float:
        """Cycles a pair where the threads take turns."""
        return self.shared.cycles / self.pairs


def together(
    triangles: ScreenTriangles,
    width: int,
    height: int,
    found: Rasterized,
    *,
    pairs: int = 64,
    threads: int = 4,
) -> Together:
    """Time a sample of the pairs of ``found`` on a core on which ``threads`` threads take turns.

    The sample is spread evenly over the pairs whose tile the screen does not cut; thread t takes pairs t, t +
    ``threads`` and so on, as many as the others. Set-up is left out. Raises InputError for less than one thread, and
    where there is no pair for each of them.
    """
    if threads < 1:
        raise InputError(Fault(f"{threads} threads on a core", hint="1 or more"))
    whole = np.flatnonzero(uncut(found.bins, (width, height))[found.tiles])
    count = min(pairs, len(whole)) // threads * threads
    if count < 1:
        given = f"a sample of {pairs} of {len(whole)} pairs on whole tiles, for {threads} threads"
        raise InputError(Fault(given, hint="at least one pair for each thread"))
    which = whole[np.arange(count) * len(whole) // count]
    bins = found.bins
    starts = np.searchsorted(which, bins.starts)
    part = Bins(bins.tile, bins.columns, bins.rows, starts, bins.triangles[which])
    set_up = SetUp(triangles, bins.tile, found.samples, found.small, found.config)
    scan = found.scan == "instruction"
    descent = Descent(set_up, part, (width, height), scan, count, recorded=True)
    # Batches have threads of their own: their pairs stand one after the other, in the order of batches.
    pairs_of = np.concatenate([which for which, _ in descent.notes])
    first = np.cumsum([0, *(len(which) for which, _ in descent.notes)])
    notes = [replace(note, threads=note.threads + at) for at, (_, note) in zip(first, descent.notes, strict=False)]
    place = np.argsort(pairs_of).tolist()
    note = RunNote.joined(notes).one_after_the_other([place[thread::threads] for thread in range(threads)])
    alone = float(descent.counted.cycles.mean())
    return Together(count, threads, alone, take_turns(descent.program, note, found.config))


@dataclass(frozen=True, slots=True, eq=False)
class Ablation:
    """The same triangles with the scalar bit scan and without it, where a loop looks at one bit after the other."""

    instruction: Rasterized
    loop: Rasterized

    @property
    def extra(self) -> float:
        """Cycles of the descent that are added without the bit scan, as a share of those with it."""
        with_scan, without = (int(each.descent.cycles.sum()) for each in (self.instruction, self.loop))
        return without / with_scan - 1 if with_scan else 0.0


def ablation(
    triangles: ScreenTriangles,
    width: int,
    height: int,
    *,
    tile: int = 64,
    samples: int = 1,
    config: CoreConfig | None = None,
) -> Ablation:
    """Rasterize triangles with and without the bit scan (Abrash 2009: scans and their like are worth about 10 %)."""
    first = rasterize(triangles, width, height, tile=tile, samples=samples, config=config)
    other = rasterize(triangles, width, height, tile=tile, samples=samples, config=config, bins=first.bins, scan="loop")
    return Ablation(first, other)
