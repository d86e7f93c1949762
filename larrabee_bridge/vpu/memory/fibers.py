"""Fibers: qquads that take turns on a work thread, one texture access after the other, to hide its latency (4.5).

Section numbers are those of Seiler et al. 2008. Fibers stand in a circular queue and run in that order only: where the
next one's texture has not come, the thread waits for it, even if another one's has. A fiber that ends its qquad goes on
with the next qquad at once; it switches after texture accesses and at no other time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["FiberRun", "fewest_fibers", "run_fibers", "stall_of_a_round", "stall_share"]


@dataclass(frozen=True, slots=True)
class FiberRun:
    """What a work thread did: cycles in all, cycles of qquads and of switches, cycles in which it waited."""

    cycles: int
    worked: int
    switched: int
    stalled: int
    order: tuple[int, ...]
    """Which qquad ran in each turn."""

    @property
    def stall_share(self) -> float:
        """Share of the waiting in all cycles."""
        return self.stalled / self.cycles if self.cycles else 0.0


def run_fibers(qquads: Iterable[Sequence[int]], fibers: int, latency: int, switch: int = 0) -> FiberRun:
    """Run qquads on one work thread, from texture access to texture access.

    A qquad is the cycles of its stretches; between two stretches it reads texture, and the result is there ``latency``
    cycles after the stretch's end. Qquads begin in their order. Raises ValueError without a fiber, and for a qquad
    without a stretch.
    """
    if fibers < 1:
        raise ValueError(f"{fibers} fibers run nothing")
    qquads = list(qquads)
    if not all(len(stretches) for stretches in qquads):
        raise ValueError("a qquad without a stretch runs nothing")
    coming = enumerate(qquads)
    ring: deque[tuple[int, int, Sequence[int], int]] = deque()  # ready, qquad, stretches, next stretch
    time = worked = switched = stalled = 0
    order: list[int] = []
    waiting = fibers
    while True:
        if waiting and (new := next(coming, None)) is not None:
            # A fiber that has not run yet: its turn comes before those that wait for their textures.
            waiting -= 1
            number, stretches, at = *new, 0
        elif ring:
            waiting = 0
            ready, number, stretches, at = ring.popleft()
            stalled += max(ready - time, 0)
            time = max(ready, time)
        else:
            break
        while True:
            order.append(number)
            time += stretches[at]
            worked += stretches[at]
            at += 1
            if at < len(stretches):
                ring.append((time + latency, number, stretches, at))
                break
            following = next(coming, None)
            if following is None:
                break
            number, stretches, at = *following, 0
        if ring or waiting:
            time += switch
            switched += switch
    return FiberRun(time, worked, switched, stalled, tuple(order))


def stall_of_a_round(fibers: int, between: int, latency: int, switch: int = 0) -> int:
    """Return the cycles that a thread waits in each round of its fibers, ``between`` cycles of work in each turn.

    From a fiber's access to its next turn the others run once each, and there is a switch for each of them and its own.
    """
    return max(0, latency - switch - (fibers - 1) * (between + switch))


def stall_share(fibers: int, between: int, latency: int, switch: int = 0) -> float:
    """Return the share of waiting in the cycles of a round."""
    stall = stall_of_a_round(fibers, between, latency, switch)
    return stall / (fibers * (between + switch) + stall)


def fewest_fibers(between: int, latency: int, switch: int = 0, percent: int = 5) -> int:
    """Return the least number of fibers whose stall share is below ``percent``.

    With w = between + switch and t = latency - switch + w a round of f fibers that stalls lasts t cycles and its share
    of waiting is 1 - f w / t; so f > (1 - percent / 100) t / w. Raises ValueError where a turn takes no cycles: then no
    number of them fills a latency.
    """
    each = between + switch
    if each < 1:
        raise ValueError(f"{between} cycles of work and {switch} of a switch fill no latency")
    whole = latency - switch + each
    return max(1, (100 - percent) * whole // (100 * each) + 1)
