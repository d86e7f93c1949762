"""The ledger of a tessellation: patches, blocks and samples that went in against those that came out.

Every marked patch must be placed once, on separate blocks, and every sample must come back. An imbalance is a defect of
the simulator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from pixelflow.config import ArrayConfig
from pixelflow.simd.errors import InternalError
from tessellation.host.session import PassResult
from tessellation.microprogram.gp_traffic import RESULT_BYTES, bytes_to_gps
from tessellation.plan.mapping import BLOCK_SIDE, Placement, blocks_of, square_lanes
from tessellation.surface.reference import PatchSamples

_NOBODY = -1


@dataclass(frozen=True, slots=True)
class Amounts:
    """Numbers of patches, of the blocks of PEs that they take, and of their samples."""

    patches: int = 0
    blocks: int = 0
    samples: int = 0

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.patches + other.patches, self.blocks + other.blocks, self.samples + other.samples)


class PatchLedger(NamedTuple):
    """Marked patches, and pass by pass those placed on the array and those that came back."""

    registered: int
    """Patches in texture memory, marked or not."""
    marked: Amounts
    placed: tuple[Amounts, ...]
    returned: tuple[Amounts, ...]

    @property
    def all_placed(self) -> Amounts:
        """The sum over all passes."""
        return reduce(add, self.placed, Amounts())

    @property
    def all_returned(self) -> Amounts:
        """The sum over all passes."""
        return reduce(add, self.returned, Amounts())

    def as_object(self) -> dict[str, int | dict[str, int]]:
        """Return the totals as plain values, for JSON."""
        return {
            "registered": self.registered,
            "marked": asdict(self.marked),
            "placed": asdict(self.all_placed),
            "returned": asdict(self.all_returned),
        }


def balance(
    registered: int,
    marked: Mapping[int, int],
    results: Sequence[PassResult],
    samples: Mapping[int, PatchSamples],
    array: ArrayConfig,
    *,
    to_gps: bool,
) -> PatchLedger:
    """Return the ledger of a tessellation; ``marked`` are the samples along a side, ``samples`` the results, by patch.

    ``to_gps`` is True if the results went to the GPs, where their bytes were counted. Raises InternalError, naming the
    patch, for one that was not placed as marked, shares a PE with another one, or lacks a sample; and if the bytes that
    reached the GPs are not those of the results.
    """
    wrong = _wrongly_placed(marked, results)
    placed, returned = [], []
    for number, result in enumerate(results, start=1):
        placements = result.plan.work.placements
        placed.append(_total(place.samples for place in placements))
        returned.append(_returned(placements, result.arrived, array, number, wrong))
    wrong += _wrong_results(marked, samples)
    if to_gps:
        wrong += _wrong_bytes(results)
    if wrong:
        raise InternalError("the ledger of the tessellation does not balance: " + "; ".join(wrong))
    return PatchLedger(registered, _total(marked.values()), tuple(placed), tuple(returned))


def _total(samples: Iterable[int]) -> Amounts:
    """Return what patches of this many samples along a side take."""
    counts = list(samples)
    return Amounts(len(counts), sum(map(blocks_of, counts)), sum(k * k for k in counts))


def _wrongly_placed(marked: Mapping[int, int], results: Sequence[PassResult]) -> list[str]:
    where: dict[int, list[tuple[int, Placement]]] = {}
    for number, result in enumerate(results, start=1):
        for place in result.plan.work.placements:
            where.setdefault(place.patch, []).append((number, place))
    wrong = [f"patch {patch + 1} was placed but not marked" for patch in where if patch not in marked]
    for patch, samples in marked.items():
        found = where.get(patch, [])
        if not found:
            wrong.append(f"patch {patch + 1} was marked but not placed")
        elif len(found) > 1:
            passes = ", ".join(str(number) for number, _ in found)
            wrong.append(f"patch {patch + 1} was placed {len(found)} times, in passes {passes}")
        elif found[0][1].samples != samples:
            wrong.append(f"patch {patch + 1} was marked for {samples} samples and placed for {found[0][1].samples}")
    return wrong


def _returned(
    placements: Sequence[Placement], arrived: np.ndarray, array: ArrayConfig, number: int, wrong: list[str]
) -> Amounts:
    """Return what came back of the patches of a pass; note in ``wrong`` which of them share PEs or lack samples."""
    squares = _lanes(placements, [place.side for place in placements], array)
    sampled = _lanes(placements, [place.samples for place in placements], array)
    owner = np.full(array.lanes, _NOBODY)
    patches = blocks = samples = 0
    for place, square, own in zip(placements, squares, sampled, strict=True):
        for other in sorted(set(owner[square].tolist()) - {_NOBODY}):
            wrong.append(f"patches {other + 1} and {place.patch + 1} share PEs in pass {number}")
        owner[square] = place.patch
        there = int(np.count_nonzero(arrived[own]))
        if there != place.samples**2:
            wrong.append(f"patch {place.patch + 1} has {there} of {place.samples**2} samples")
        patches += there > 0
        blocks += len(set((square // BLOCK_SIDE**2).tolist()))
        samples += there
    return Amounts(patches, blocks, samples)


def _lanes(placements: Sequence[Placement], sides: Sequence[int], array: ArrayConfig) -> list[np.ndarray]:
    """Return the lanes of the square of each patch, which has this many PEs a side."""
    found: dict[int, np.ndarray] = {}
    for side in set(sides):
        members = [index for index, each in enumerate(sides) if each == side]
        lanes = square_lanes([placements[index] for index in members], side, array)
        found.update(zip(members, lanes.reshape(len(members), -1), strict=True))
    return [found[index] for index in range(len(placements))]


def _wrong_results(marked: Mapping[int, int], samples: Mapping[int, PatchSamples]) -> list[str]:
    wrong = [f"patch {patch + 1} has a result but was not marked" for patch in samples if patch not in marked]
    for patch, k in marked.items():
        found = samples.get(patch)
        if found is None:
            wrong.append(f"patch {patch + 1} has no result")
        elif found.points.shape[:2] != (k, k):
            wrong.append(f"patch {patch + 1} was marked for {k}x{k} samples and has {found.points.shape[:2]}")
    return wrong


def _wrong_bytes(results: Sequence[PassResult]) -> list[str]:
    moved = sum(bytes_to_gps(result.run) + result.taken_bytes for result in results)
    expected = sum(RESULT_BYTES * int(result.arrived.sum()) for result in results)
    return [f"{moved} bytes reached the GPs, the results have {expected}"] if moved != expected else []
