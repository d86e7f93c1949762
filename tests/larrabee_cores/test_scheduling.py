"""Schedules of cores: hand-worked ones, and what any schedule must keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from larrabee_bridge.pipeline.bins import Bins, in_order, sub_bins
from larrabee_bridge.pipeline.schedule import FrameWork, Schedule, ScheduleConfig, WorkKind, schedule
from pixelflow.simd.errors import InputError

ALONE = ScheduleConfig(frames_in_flight=1, lock_cycles=0)


def violations(found: Schedule, works: Sequence[FrameWork], config: ScheduleConfig) -> list[str]:
    """Return what a timeline breaks.

    One thing at a time on a core, each thing once and in full, the order within a frame, frames in flight, and locks
    that exclude each other where they are to.
    """
    wrong = _overlaps(found, found.core, found.end, "core")
    if config.exclusive_locks:
        lists = (found.kind == WorkKind.LIST_BACK) | (found.kind == WorkKind.BACK)
        wrong += _overlaps(found, lists.astype(np.int64), found.begin + found.lock_cycles, "lock of list")
    first = np.full((len(works), len(WorkKind)), np.iinfo(np.int64).max, np.int64)
    last = np.full((len(works), len(WorkKind)), -1)
    np.minimum.at(first, (found.work, found.kind), found.begin)
    np.maximum.at(last, (found.work, found.kind), found.end)
    for at, work in enumerate(works):
        one = np.zeros(1, np.int64)
        for kind, cycles in zip(WorkKind, (one, work.front, one, work.back), strict=True):
            chosen = (found.work == at) & (found.kind == kind)
            items, order = np.unique(found.item[chosen], return_index=True)
            taken = (found.end - found.begin)[chosen] - found.lock_cycles
            if chosen.sum() != len(cycles) or not np.array_equal(items, np.arange(len(cycles))):
                wrong.append(f"{work.name}: {kind.name} was not executed once for each of {len(cycles)}")
            elif not np.array_equal(taken[order], cycles):
                wrong.append(f"{work.name}: {kind.name} did not take the cycles that it costs")
        for before, after in zip(WorkKind, list(WorkKind)[1:], strict=False):
            if first[at, after] < last[at, before]:
                wrong.append(f"{work.name}: {after.name} began before {before.name} was over")
        wrong += [
            f"{work.name} began before {works[each].name} was complete"
            for each in _before(works, at, config)
            if first[at, WorkKind.LIST_FRONT] < last[each, WorkKind.BACK]
        ]
    return wrong


def _before(works: Sequence[FrameWork], at: int, config: ScheduleConfig) -> list[int]:
    """Return the works of frames that a work's frame may not overlap."""
    return [k for k, each in enumerate(works) if each.frame <= works[at].frame - config.frames_in_flight]


def _overlaps(found: Schedule, owner: np.ndarray, end: np.ndarray, what: str) -> list[str]:
    # Stretches without length come first at the cycle that they share.
    order = np.lexsort((end, found.begin, owner))
    same = owner[order][1:] == owner[order][:-1]
    late = np.flatnonzero(same & (found.begin[order][1:] < end[order][:-1]))
    return [f"{what} {owner[order][at]}: two things at cycle {found.begin[order][at + 1]}" for at in late]


def critical_path(works: Sequence[FrameWork], config: ScheduleConfig) -> int:
    """Return the cycles that any number of cores needs: lists, longest PrimSet, longest bin, and waits."""
    lock, ends = config.lock_cycles, list[int]()
    for at, work in enumerate(works):
        begun = max((ends[each] for each in _before(works, at, config)), default=0)
        ends.append(begun + 4 * lock + int(work.front.max()) + int(work.back.max()))
    return max(ends)


def cycles(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def scene(frames: int, seed: int) -> list[FrameWork]:
    rng = np.random.default_rng(seed)

    def some(most: int) -> np.ndarray:
        return rng.integers(0, 1000, rng.integers(1, most))

    return [FrameWork(f"picture {frame}", some(12), some(30), frame) for frame in range(frames)]


def listed(found: Schedule) -> list[tuple[int, int, int, str, int]]:
    columns = zip(found.core, found.begin, found.end, found.kind, found.item, strict=True)
    return [(core, begin, end, WorkKind(kind).name, item) for core, begin, end, kind, item in columns]


def test_one_frame_on_two_cores() -> None:
    work = FrameWork("picture", cycles(30, 10, 10), cycles(5, 20, 5))
    found = schedule([work], replace(ALONE, cores=2, lock_cycles=1))
    assert listed(found) == [
        (0, 0, 1, "LIST_FRONT", 0),
        (0, 1, 32, "FRONT", 0),
        (1, 1, 12, "FRONT", 1),
        (1, 12, 23, "FRONT", 2),
        (0, 32, 33, "LIST_BACK", 0),
        (0, 33, 39, "BACK", 0),
        (1, 33, 54, "BACK", 1),
        (0, 39, 45, "BACK", 2),
    ]
    assert (found.makespan, found.locks, found.busy.tolist()) == (54, 8, [1 + 31 + 1 + 6 + 6, 11 + 11 + 21])
    assert found.done.tolist() == [45, 54]
    gaps = {0: 0, 1: 1 + 10}  # core 1 waits for the first list, and from 23 to 33 for core 0's PrimSet and the second
    assert found.busy.sum() + (54 - 45) + sum(gaps.values()) == 2 * found.makespan
    assert schedule([work], replace(ALONE, cores=4, lock_cycles=1)).done[3] == 0, (
        "three PrimSets and bins are for three"
    )
    assert found.utilisation == 88 / 108


def test_bins_go_before_primsets_unless_told() -> None:
    """Core 0 is alone: after frame 0 is binned, its bins are ready, and so is the PrimSet of frame 1."""
    works = [FrameWork("picture", cycles(3), cycles(5), frame=frame) for frame in range(2)]
    one = replace(ALONE, cores=1, frames_in_flight=2)

    def order(config: ScheduleConfig) -> list[tuple[WorkKind, int]]:
        found = schedule(works, config)
        chosen = np.isin(found.kind, (WorkKind.FRONT, WorkKind.BACK))
        return list(zip(found.kind[chosen].tolist(), found.work[chosen].tolist(), strict=True))

    assert order(one) == [(WorkKind.FRONT, 0), (WorkKind.BACK, 0), (WorkKind.FRONT, 1), (WorkKind.BACK, 1)]
    assert order(replace(one, front_first=True)) == [
        (WorkKind.FRONT, 0),
        (WorkKind.FRONT, 1),
        (WorkKind.BACK, 0),
        (WorkKind.BACK, 1),
    ]


CONFIGURATIONS = [
    ScheduleConfig(cores, 100, *rest)
    for cores in (1, 3, 8, 64)
    for rest in [
        (False, False, 1, False),
        (True, True, 2, True),
        (False, True, 3, False),
    ]
]


@pytest.mark.parametrize("config", CONFIGURATIONS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_what_every_schedule_keeps(config: ScheduleConfig, seed: int) -> None:
    works = scene(4, seed)
    found = schedule(works, config)
    assert violations(found, works, config) == []
    whole = sum(work.cycles + 100 * work.locks for work in works)
    assert int(found.busy.sum()) == whole
    assert found.locks == sum(work.locks for work in works)
    assert found.makespan >= max(critical_path(works, config), -(-whole // config.cores))
    if config.cores == 1:
        assert found.makespan == whole
    if not config.exclusive_locks:
        # Graham 1966: cores are idle only while the longest chain of waits is under way.
        assert found.makespan <= whole / config.cores + critical_path(works, config)
    again = schedule(works, config)
    assert listed(again) == listed(found)


def test_many_cores_need_the_critical_path() -> None:
    works = scene(1, 5)
    config = replace(ALONE, cores=64, lock_cycles=7)
    assert schedule(works, config).makespan == critical_path(works, config)


@pytest.mark.parametrize("cores", [1, 2, 8, 48])
@pytest.mark.parametrize("primset", [1, 7, 50])
def test_whoever_took_a_primset_the_bins_are_read_in_order(cores: int, primset: int) -> None:
    rng = np.random.default_rng(primset)
    count, tiles = 120, 5
    members = [np.flatnonzero(rng.random(count) < 0.3) for _ in range(tiles)]
    starts = np.cumsum([0, *(len(each) for each in members)])
    bins = Bins(64, tiles, 1, starts, np.concatenate(members))
    work = FrameWork("x", rng.integers(1, 100, -(-count // primset)), cycles(1))
    found = schedule([work], replace(ALONE, cores=cores))
    fronts = found.kind == WorkKind.FRONT
    takers = found.core[fronts][np.argsort(found.item[fronts])].tolist()
    assert len(takers) == len(work.front)
    assert set(takers) <= set(range(cores))
    for tile in range(tiles):
        assert list(in_order(sub_bins(bins, tile, count, primset, takers))) == members[tile].tolist()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: found.begin.__setitem__(slice(-3, None), 0), "two things at cycle"),
        (lambda found: found.work.__setitem__(found.work == 0, 1), "was not executed once for each"),
        (lambda found: found.end.__setitem__(-1, found.end[-1] + 1), "did not take the cycles"),
    ],
)
def test_the_check_sees_a_wrong_timeline(change: object, said: str) -> None:
    works = scene(2, 1)
    found = schedule(works, ALONE)
    change(found)
    assert any(said in message for message in violations(found, works, ALONE))


def test_the_check_sees_what_did_not_wait() -> None:
    """A timeline made where nothing waits breaks the rules of one where things wait."""
    works = scene(3, 2)
    free = replace(ALONE, cores=64, frames_in_flight=4)
    found = schedule(works, free)
    assert violations(found, works, free) == []
    assert any("was complete" in each for each in violations(found, works, replace(free, frames_in_flight=1)))
    locked = replace(free, lock_cycles=10)
    shut = violations(schedule(works, locked), works, replace(locked, exclusive_locks=True))
    assert any("lock of list" in each for each in shut)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: FrameWork("x", cycles(), cycles(1)), "at least one"),
        (lambda: FrameWork("x", cycles(1), cycles(-1)), "costs -1 cycles"),
        (lambda: schedule([]), "at least one"),
        (lambda: schedule([FrameWork("x", cycles(1), cycles(1))], ScheduleConfig(cores=0)), "cores: 0 is out of range"),
        (lambda: schedule([FrameWork("x", cycles(1), cycles(1), frame=each) for each in (1, 0)]), "order"),
    ],
)
def test_what_is_refused(make: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()
