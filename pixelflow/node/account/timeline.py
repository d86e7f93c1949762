"""The stages of runs in time, stream beside stream: figure 13 of the thesis as data of an executed run.

The figure is missing from the text; section 5 says of it that all stalls are in the transfers, never in the EMCs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from pixelflow.isa import ALL, BEFORE, END
from pixelflow.observe import TRANSFER
from pixelflow.simd.report import Timeline, TimeSpan

__all__ = ["StageSpan", "stage_figures", "stage_marks", "timeline"]


@dataclass(frozen=True, slots=True)
class StageSpan:
    """A stage of one stream, from cycle ``start`` up to, but not including, ``end``.

    It is filled by ``busy``, the cycles of the stream's instructions, ``transfer``, those in which the texture stream
    waited for its own transfer, and ``wait``, those in which it waited for anything else, as the other stream. The last
    two are the waits of the account.
    """

    name: str
    stream: str
    start: int
    end: int
    busy: int
    transfer: int
    wait: int

    @property
    def cycles(self) -> int:
        """The length of the span."""
        return self.end - self.start


class _Staged(Protocol):
    """What an account says of one stream: its stages as (name, cycle of the MARK), its waits by stage."""

    @property
    def stream(self) -> str: ...
    @property
    def cycles(self) -> int: ...
    @property
    def stages(self) -> Sequence[tuple[str, int]]: ...
    @property
    def stage_waits(self) -> Mapping[tuple[int, str], int]: ...


class _Account(Protocol):
    """An account of a run: of all its streams."""

    @property
    def streams(self) -> Sequence[_Staged]: ...
    @property
    def total_cycles(self) -> int: ...


def stage_marks(stages: Sequence[tuple[str, int]], cycles: int) -> list[tuple[str, int]]:
    """Return (name, first cycle) of what a stream's time falls into: what precedes its stages, these, and its end."""
    return [(BEFORE if stages else ALL, 0), *stages, (END, cycles)]


def timeline(run: _Account) -> tuple[StageSpan, ...]:
    """Return the stages of both streams that took any cycles, stream by stream, each in the order of time.

    The spans of a stream follow each other without a gap from cycle 0 to its end; what precedes the first MARK is named
    ``(before)``, and all of a stream without MARK ``(all)``.
    """
    return tuple(span for each in run.streams for span in _spans(each))


def _spans(run: _Staged) -> Iterator[StageSpan]:
    waits = {stage: [0, 0] for stage in range(-1, len(run.stages))}
    for (stage, reason), cycles in run.stage_waits.items():
        waits[stage][reason != TRANSFER] += cycles
    marks = stage_marks(run.stages, run.cycles)
    for stage, ((name, start), (_, end)) in enumerate(pairwise(marks), start=-1):
        if end > start:
            transfer, wait = waits[stage]
            yield StageSpan(name, run.stream, start, end, end - start - transfer - wait, transfer, wait)


def stage_figures(runs: Sequence[_Account]) -> tuple[Timeline, ...]:
    """Return what draws the stages of runs that follow each other; nothing where there is but one span.

    A run begins when the one before has ended in both streams.
    """
    lanes: dict[str, list[TimeSpan]] = {}
    begin = 0
    for run in runs:
        for each in timeline(run):
            lane = lanes.setdefault(each.stream.upper(), [])
            lane.append(TimeSpan(each.name, begin + each.start, begin + each.end, each.wait, each.transfer))
        begin += run.total_cycles
    if sum(map(len, lanes.values())) < 2:
        return ()
    several = f", {len(runs)} passes one after the other" if len(runs) > 1 else ""
    return (Timeline(f"stages in time{several}", tuple(lanes.items()), own="its own transfer"),)
