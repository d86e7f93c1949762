"""What every timeline must keep, told from the timeline alone; and the shortest that any schedule can be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from larrabee_bridge.pipeline.scheduling.scheduler import ScheduleConfig
from larrabee_bridge.pipeline.scheduling.timeline import Schedule, WorkKind
from larrabee_bridge.pipeline.scheduling.work import FrameWork

__all__ = ["critical_path", "violations"]


def violations(found: Schedule, works: Sequence[FrameWork], config: ScheduleConfig) -> list[str]:
    """Return in words whatever a timeline breaks.

    One thing at a time on a core, each thing once and in full, the order within an RTset, the dependency graph, and
    locks that exclude each other where they are to.
    """
    wrong = _overlaps(found, found.core, found.end, "core")
    if config.exclusive_locks:
        lists = (found.kind == WorkKind.LIST_BACK) | (found.kind == WorkKind.BACK)
        wrong += _overlaps(found, lists.astype(np.int64), found.begin + found.lock_cycles, "lock of list")
    first = np.full((len(works), len(WorkKind)), np.iinfo(np.int64).max, np.int64)
    last = np.full((len(works), len(WorkKind)), -1)
    np.minimum.at(first, (found.rtset, found.kind), found.begin)
    np.maximum.at(last, (found.rtset, found.kind), found.end)
    for rtset, work in enumerate(works):
        one = np.zeros(1, np.int64)
        for kind, cycles in zip(WorkKind, (one, work.front, one, work.back), strict=True):
            chosen = (found.rtset == rtset) & (found.kind == kind)
            items, order = np.unique(found.item[chosen], return_index=True)
            taken = (found.end - found.begin)[chosen] - found.lock_cycles
            if chosen.sum() != len(cycles) or not np.array_equal(items, np.arange(len(cycles))):
                wrong.append(f"{work.name}: {kind.name} was not carried out once for each of {len(cycles)}")
            elif not np.array_equal(taken[order], cycles):
                wrong.append(f"{work.name}: {kind.name} did not take the cycles that it costs")
        for before, after in zip(WorkKind, list(WorkKind)[1:], strict=False):
            if first[rtset, after] < last[rtset, before]:
                wrong.append(f"{work.name}: {after.name} began before {before.name} was over")
    waits = config.dependencies(works)
    for half, kind in ((waits.front, WorkKind.LIST_FRONT), (waits.back, WorkKind.LIST_BACK)):
        for rtset, needed in enumerate(half):
            wrong += [
                f"{works[rtset].name}: {kind.name} began before {works[each].name} was complete"
                for each in sorted(needed)
                if first[rtset, kind] < last[each, WorkKind.BACK]
            ]
    return wrong


def _overlaps(found: Schedule, owner: np.ndarray, end: np.ndarray, what: str) -> list[str]:
    # Stretches without length come first at the cycle that they share.
    order = np.lexsort((end, found.begin, owner))
    same = owner[order][1:] == owner[order][:-1]
    late = np.flatnonzero(same & (found.begin[order][1:] < end[order][:-1]))
    return [f"{what} {owner[order][at]}: two things at cycle {found.begin[order][at + 1]}" for at in late]


def critical_path(works: Sequence[FrameWork], config: ScheduleConfig) -> int:
    """Return the cycles that as many cores as one likes need: lists, longest PrimSet, longest bin, and waits."""
    waits, lock = config.dependencies(works), config.lock_cycles
    ends: list[int] = []
    for rtset, work in enumerate(works):
        begun = max((ends[each] for each in waits.front[rtset]), default=0)
        binned = begun + 2 * lock + int(work.front.max())
        ends.append(max([binned, *(ends[each] for each in waits.back[rtset])]) + 2 * lock + int(work.back.max()))
    return max(ends)
