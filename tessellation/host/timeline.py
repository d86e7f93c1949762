"""The stages of a pass in time, stream beside stream: figure 13 of the thesis as data of an executed run.

The figure is missing from the text; section 5 says of it that all stalls are in the transfers, never in the EMCs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pixelflow.isa import BEFORE, END
from pixelflow.node import Run

__all__ = ["StageSpan", "timeline"]

_TRANSFER = "transfer"
"""The reason under which the texture stream counts the cycles in which its own transfer is under way."""


@dataclass(frozen=True, slots=True)
class StageSpan:
    """A stage of one stream, from cycle ``start`` up to, but not including, ``end``; ``busy`` + ``wait`` fill it.

    ``busy`` are the cycles of the stream's instructions, of the texture stream those of its transfers as well. ``wait``
    are those in which it waited for the other stream.
    """

    name: str
    stream: str
    start: int
    end: int
    busy: int
    wait: int

    @property
    def cycles(self) -> int:
        """The length of the span."""
        return self.end - self.start


def timeline(run: Run) -> tuple[StageSpan, ...]:
    """Return the stages of both streams that took any cycles, stream by stream, each in the order of time.

    The spans of a stream follow each other without a gap from cycle 0 to its end; what precedes the first MARK is named
    ``(before)``.
    """
    return tuple(span for each in run.streams for span in _spans(each))


def _spans(run: Run) -> Iterator[StageSpan]:
    waits = dict.fromkeys(range(-1, len(run.stages)), 0)
    for (stage, reason), cycles in run.stage_waits.items():
        waits[stage] += cycles if reason != _TRANSFER else 0
    marks = [(BEFORE, 0), *run.stages, (END, run.cycles)]
    for stage, ((name, start), (_, end)) in enumerate(pairwise(marks), start=-1):
        if end > start:
            yield StageSpan(name, run.stream, start, end, end - start - waits[stage], waits[stage])
