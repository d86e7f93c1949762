"""Assignment of samples to PEs (thesis 3.2 and 4.1, figure 8).

A patch sampled k x k takes a square of blocks inside one EMC: one block of 4x4 PEs for k up to 4, four for k up to 8,
sixteen (the whole EMC) for k up to 16. Up to 32 or 64 it takes a square of 2x2 or 4x4 EMCs, in modules that all have
its control points, and shares a pass with patches of the same k alone. Sample (i, j) is i to the right (u runs along x)
and j down (v runs along y).
Large patches are placed first, so that the rest always fits the smaller ones; patches without room wait for another
pass. Figure 8 is missing from the text: inside an EMC the blocks are taken in Z order (invented), which makes every
aligned square a run of consecutive blocks.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pixelflow.config import ArrayConfig
from pixelflow.node import EMC_HEIGHT, EMC_WIDTH
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted

BLOCK_SIDE = 4
"""A block is 4x4 PEs, half a panel (thesis 3.2)."""

MIN_SAMPLES = 2
MAX_SAMPLES = 16
"""Samples of a side that one EMC has room for."""

MOST_SAMPLES = 64
"""Samples of a side that the modules of a node have room for together (3.2)."""


class Placement(NamedTuple):
    """One patch on the array: ``patch`` is its index in the caller's list, (x, y) the PE of its sample (0, 0)."""

    patch: int
    samples: int
    x: int
    y: int

    @property
    def side(self) -> int:
        """Side of the square of PEs that the patch takes: 4, 8, 16, 32 or 64."""
        return _side(self.samples)

    @property
    def module(self) -> int:
        """The first module that has PEs of the patch."""
        return self.y // EMC_HEIGHT

    @property
    def modules(self) -> range:
        """The modules that have PEs of the patch."""
        return range(self.module, self.module + -(-self.side // EMC_HEIGHT))

    def lanes(self, array: ArrayConfig) -> np.ndarray:
        """Return the lane of each sample, shape (k, k), first index along x."""
        return square_lanes([self], self.samples, array)[0]


def square_lanes(placements: Sequence[Placement], side: int, array: ArrayConfig) -> np.ndarray:
    """Return the lanes of the squares of ``side`` x ``side`` PEs that begin at each patch's first one.

    The shape is (placements, side, side), the second index along x.
    """
    places = np.array([(place.x, place.y) for place in placements]).reshape(-1, 2)
    first_x, first_y = places.T
    offset = np.arange(side)
    emc, x = np.divmod((first_x[:, None] + offset)[:, :, None], EMC_WIDTH)
    module, y = np.divmod((first_y[:, None] + offset)[:, None, :], EMC_HEIGHT)
    panel = 2 * (y // 4) + x // 8
    pe = 4 * (x % 8) + y % 4
    return ((module * array.emcs_per_module + emc) * array.panels_per_emc + panel) * array.pes_per_panel + pe


class Pass(NamedTuple):
    """One pass of the array: the placements in the order in which their data must be loaded."""

    placements: tuple[Placement, ...]
    lanes: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sample counts that occur, ascending."""
        return tuple(sorted({placement.samples for placement in self.placements}))

    @property
    def samples(self) -> int:
        """PEs that make a sample."""
        return sum(placement.samples**2 for placement in self.placements)

    @property
    def allocated(self) -> int:
        """PEs that belong to a patch, including those left idle by a k between the powers of two."""
        return sum(placement.side**2 for placement in self.placements)

    @property
    def occupancy(self) -> float:
        """Share of the PEs that make a sample."""
        return self.samples / self.lanes


def allocate(samples: Sequence[int], array: ArrayConfig, patches: Sequence[int] | None = None) -> tuple[Pass, ...]:
    """Place patch ``patches[p]`` (p by default) with ``samples[p]`` x ``samples[p]`` samples, in passes.

    Raises InputError for a count other than 2 to 64, or whose square does not fit this array.
    """
    patches = range(len(samples)) if patches is None else patches
    _check(samples, patches, array)
    marked = [Marked(patch, count, ()) for patch, count in zip(patches, samples, strict=True)]
    capacity = len(_emc_blocks(array)) * array.emcs
    passes = _cut(_small(marked), capacity)
    across = _across(marked, array)
    return (*(Pass(load_order(tuple(_in_z_order(0, members, array))), array.lanes) for members in passes), *across)


class Marked(NamedTuple):
    """A patch to be tessellated: ``patch`` is its number, ``modules`` have its control points."""

    patch: int
    samples: int
    modules: tuple[int, ...]


def allocate_modules(marked: Sequence[Marked], array: ArrayConfig, *, raster: bool = False) -> tuple[Pass, ...]:
    """Place patches on blocks of modules that have their data, each module's large ones first (thesis 4.1).

    A patch stored in several modules goes to the one with the fewest blocks taken. A module with more patches than fit
    takes several passes; the passes of all modules run side by side. With ``raster``, the patches of a pass with a
    single size follow each other in rows over all EMCs of their module. Raises InputError as allocate() does.
    """
    _check([each.samples for each in marked], [each.patch for each in marked], array)
    queues: list[list[Marked]] = [[] for _ in range(array.modules)]
    loads = [0] * array.modules
    for each in _small(marked):
        module = min(each.modules, key=lambda one: loads[one])
        loads[module] += blocks_of(each.samples)
        queues[module].append(each)
    by_module = [_module_passes(module, queue, array, raster) for module, queue in enumerate(queues)]
    number = max(map(len, by_module))
    merged = [[place for one in by_module if index < len(one) for place in one[index]] for index in range(number)]
    return (*(Pass(load_order(tuple(placed)), array.lanes) for placed in merged), *_across(marked, array))


def _small(marked: Sequence[Marked]) -> list[Marked]:
    """Return the patches that fit into one EMC, large ones first."""
    return sorted((one for one in marked if one.samples <= MAX_SAMPLES), key=lambda one: -_side(one.samples))


def _across(marked: Sequence[Marked], array: ArrayConfig) -> list[Pass]:
    """Place the patches that take several EMCs; a pass has one number of samples.

    Each goes to the band of modules with the fewest patches, among those whose modules all have its control points.
    """
    passes = []
    for samples in sorted({one.samples for one in marked if one.samples > MAX_SAMPLES}):
        side = _side(samples)
        height, in_a_row = side // EMC_HEIGHT, EMC_WIDTH * array.emcs_per_module // side
        bands: dict[int, list[Marked]] = {first: [] for first in range(0, array.modules - height + 1, height)}
        for one in (one for one in marked if one.samples == samples):
            possible = [
                first for first in bands if not one.modules or {*range(first, first + height)} <= {*one.modules}
            ]
            if not possible:
                found = f"{samples} samples for patch {one.patch + 1} take PEs of {height} modules"
                hint = f"store patches in {height} modules (replication), or send control points through the LEE"
                raise InputError(Fault(f"{found}, and it is not stored in these", hint=hint))
            bands[min(possible, key=lambda first: len(bands[first]))].append(one)
        for start in range(0, max(map(len, bands.values())), in_a_row):
            placed = [
                Placement(one.patch, samples, side * at, EMC_HEIGHT * first)
                for first, members in bands.items()
                for at, one in enumerate(members[start : start + in_a_row])
            ]
            passes.append(Pass(load_order(tuple(placed)), array.lanes))
    return passes


def size_code(samples: int) -> int:
    """Return the upper half of a mark byte: 16 (k - 1), so that every k from 2 to 16 has its own.

    It is 0 for patches that take several EMCs, which have one k in a pass; their columns and rows need the whole byte.
    """
    return 16 * (samples - 1) if samples <= MAX_SAMPLES else 0


def _module_passes(module: int, queue: Sequence[Marked], array: ArrayConfig, raster: bool) -> list[list[Placement]]:
    """Cut the patches of one module, large ones first, into passes and place each of those."""
    placed = []
    for members in _cut(queue, len(_emc_blocks(array)) * array.emcs_per_module):
        in_rows = raster and len({one.samples for one in members}) == 1
        placed.append((_in_rows if in_rows else _in_z_order)(module, members, array))
    return placed


def _cut(queue: Sequence[Marked], capacity: int) -> list[list[Marked]]:
    """Cut patches, large ones first, into passes of this many blocks."""
    passes: list[list[Marked]] = []
    used = capacity
    for each in queue:
        needed = blocks_of(each.samples)
        if used + needed > capacity:
            passes.append([])
            used = 0
        passes[-1].append(each)
        used += needed
    return passes


def _in_z_order(first: int, members: Sequence[Marked], array: ArrayConfig) -> list[Placement]:
    """Place patches on the blocks of one EMC after the other, starting with module ``first``."""
    placed, used, blocks = [], 0, _emc_blocks(array)
    for each in members:
        chip, block = divmod(used, len(blocks))
        module, emc = divmod(first * array.emcs_per_module + chip, array.emcs_per_module)
        column, row = blocks[block]
        x, y = EMC_WIDTH * emc + BLOCK_SIDE * column, EMC_HEIGHT * module + BLOCK_SIDE * row
        placed.append(Placement(each.patch, each.samples, x, y))
        used += blocks_of(each.samples)
    return placed


def _in_rows(module: int, members: Sequence[Marked], array: ArrayConfig) -> list[Placement]:
    side = _side(members[0].samples)
    in_a_row = EMC_WIDTH * array.emcs_per_module // side
    return [
        Placement(each.patch, each.samples, side * (n % in_a_row), EMC_HEIGHT * module + side * (n // in_a_row))
        for n, each in enumerate(members)
    ]


@lru_cache(maxsize=16)
def load_order(placements: tuple[Placement, ...]) -> tuple[Placement, ...]:
    """Return the placements so that loads to whole quadrants leave each patch with its own data.

    A load enables the quadrant right of and below a patch's first PE with two compares, so it also overwrites every
    patch that the quadrant meets: such a patch must be loaded later. Among the possible orders the one nearest to
    raster order is taken. Raises ValueError if no order exists, which cannot happen for the squares of allocate().
    """
    if not placements:
        return ()
    x, y, side = (np.array([getattr(p, name) for p in placements]) for name in ("x", "y", "side"))
    # spoils[b, a]: the quadrant of b meets the square of a, so b goes first.
    spoils = (x[:, None] < (x + side)[None, :]) & (y[:, None] < (y + side)[None, :])
    np.fill_diagonal(spoils, False)
    pending = spoils.sum(axis=0)
    ready = [(int(y[p]), int(x[p]), int(p)) for p in np.flatnonzero(pending == 0)]
    heapq.heapify(ready)
    order: list[Placement] = []
    while ready:
        first = heapq.heappop(ready)[2]
        order.append(placements[first])
        freed = spoils[first] & (pending == 1)
        pending -= spoils[first]
        for p in np.flatnonzero(freed):
            heapq.heappush(ready, (int(y[p]), int(x[p]), int(p)))
    if len(order) != len(placements):
        raise ValueError("the squares overlap: no order of loads leaves each patch with its own data")
    return tuple(order)


def blocks_of(samples: int) -> int:
    """Return the blocks that a patch with ``samples`` x ``samples`` samples takes: 1, 4, 16, 64 or 256."""
    return (_side(samples) // BLOCK_SIDE) ** 2


def _side(samples: int) -> int:
    return max(BLOCK_SIDE, 1 << (samples - 1).bit_length())


def _emc_blocks(array: ArrayConfig) -> tuple[tuple[int, int], ...]:
    """Return (column, row) of the blocks of one EMC in Z order."""
    rows = array.panels_per_emc // 2
    spread = [((b & 1) | (b >> 1 & 2), (b >> 1 & 1) | (b >> 2 & 2)) for b in range(16)]
    return tuple((column, row) for column, row in spread if row < rows)


def _check(samples: Sequence[int], patches: Sequence[int], array: ArrayConfig) -> None:
    largest = BLOCK_SIDE * min(4, array.panels_per_emc // 2)
    if largest == EMC_HEIGHT:
        across = 1 << min(array.modules, array.emcs_per_module).bit_length() - 1
        largest = min(MOST_SAMPLES, EMC_HEIGHT * across)
    faults = [
        Fault(f"{counted(count, 'sample')} for patch {patch + 1}", hint=f"allowed: {MIN_SAMPLES} to {largest}")
        for patch, count in zip(patches, samples, strict=True)
        if not MIN_SAMPLES <= count <= largest
    ]
    if faults:
        raise InputError(faults[:20])
