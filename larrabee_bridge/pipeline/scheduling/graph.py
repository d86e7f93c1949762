"""The RTset dependency graph: which RTsets must be complete before another one's front end or back end begins (4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from larrabee_bridge.pipeline.scheduling.work import FrameWork

__all__ = ["Dependencies", "dependencies_of"]


@dataclass(frozen=True, slots=True)
class Dependencies:
    """For each RTset the numbers of those that must be complete before its front end, and before its back end."""

    front: tuple[frozenset[int], ...]
    back: tuple[frozenset[int], ...]


def dependencies_of(
    works: Sequence[FrameWork], *, own_buffers: bool = True, fronts_wait: bool = False, frames_in_flight: int = 1
) -> Dependencies:
    """Return what waits for what among RTsets in the order of their submission.

    A target is not read until its last writer is complete, and not changed until those that read it, or wrote it last,
    are. With ``own_buffers`` an RTset that writes a target without reading it gets other memory for it ("a different
    back buffer ... would remove the dotted line"), so that the second half falls away for it. Front ends wait for the
    targets that they read, with ``fronts_wait`` for all that their RTset waits for; and everything waits for the
    frames before the last ``frames_in_flight``, its own among them.
    """
    writer: dict[str, int] = {}
    readers: dict[str, set[int]] = {}
    front, back = [], []
    for number, work in enumerate(works):
        needed = {target: writer[target] for target in work.reads if target in writer}
        waits = set(needed.values())
        for target in work.writes:
            if target in work.reads or not own_buffers:
                waits |= readers.get(target, set())
                waits |= {writer[target]} if target in writer else set()
        early = waits if fronts_wait else {needed[target] for target in work.front_reads if target in needed}
        old = {each for each in range(number) if works[each].frame <= work.frame - frames_in_flight}
        front.append(frozenset(early | old))
        back.append(frozenset(waits | old))
        for target in work.reads:
            readers.setdefault(target, set()).add(number)
        for target in work.writes:
            writer[target] = number
            # An RTset that reads what it writes has read the old contents, not its own.
            readers[target] = set()
    return Dependencies(tuple(front), tuple(back))
