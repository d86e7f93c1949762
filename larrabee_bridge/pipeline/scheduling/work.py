"""Work: what the PrimSets and the bins of one RTset cost, and which render targets it reads and writes (4.1, 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelflow.simd.errors import Fault, InputError

__all__ = ["FrameWork", "check_works"]


@dataclass(frozen=True, slots=True, eq=False)
class FrameWork:
    """One RTset of a frame: int64 cycles of each PrimSet's front end and of each bin's back end.

    PrimSets stand in the order of their sequence ids. A bin's back end is that of a whole core: one set-up thread and
    three work threads are folded into it (4.5). Tiles in which nothing is to be done do not stand here.

    ``writes`` are the render targets that it changes; ``reads`` those whose contents it needs: textures, and targets
    that it draws over without clearing them. ``front_reads`` are those of them that the front end needs already.
    Raises InputError where there is no PrimSet or no bin, for negative cycles, and for front reads that are no reads.
    """

    name: str
    front: np.ndarray
    back: np.ndarray
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ("back buffer",)
    frame: int = 0
    front_reads: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        faults = []
        for what, cycles in (("PrimSet", self.front), ("bin", self.back)):
            if cycles.ndim != 1 or not len(cycles) or cycles.dtype != np.int64:
                faults.append(Fault(f"{self.name}: cycles of each {what} are int64, one for each, at least one"))
            elif (cycles < 0).any():
                faults.append(Fault(f"{self.name}: a {what} costs {int(cycles.min())} cycles"))
        faults += [
            Fault(f"{self.name}: its front end reads {target}, which is not among its reads")
            for target in self.front_reads
            if target not in self.reads
        ]
        if faults:
            raise InputError(faults)

    @property
    def cycles(self) -> int:
        """All cycles of front end and back end, without locks."""
        return int(self.front.sum()) + int(self.back.sum())

    @property
    def locks(self) -> int:
        """Locks of 5.2: two for the bin set (one a queue), one a PrimSet, one a bin."""
        return 2 + len(self.front) + len(self.back)


def check_works(works: list[FrameWork]) -> None:
    """Raise InputError where there is no work, or frames do not follow each other."""
    if not works:
        raise InputError(Fault("there is no work to schedule"))
    numbers = [work.frame for work in works]
    if numbers != sorted(numbers):
        raise InputError(Fault(f"RTsets stand in the order of their frames, not {numbers}"))
