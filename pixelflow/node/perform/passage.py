"""Repeated runs whose transfers are known beforehand: all that happens to the lanes is one piece of native code.

A read of texture memory follows from marks and addresses. Where these follow from the program and from the places of
the PEs alone, as they do where the LEE tells each PE its patch, nobody has to look whether they are the same: only the
masks with which the run begins and the registers of LEE and TASICs can make a difference. Other contents of texture
memory are read at the same addresses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa.registers import INPUT_PORT, OUTPUT_PORT, PORT_BYTES
from pixelflow.lanes.engine import Action
from pixelflow.node.array.pe_array import PeArray
from pixelflow.node.perform.score import Again, Begin, End, Lanes, Score, Settings
from pixelflow.node.texture.read_cache import LastRound
from pixelflow.node.texture.rereading import Rereading
from pixelflow.node.texture.state import TextureState
from pixelflow.node.texture.unit import TextureUnit

__all__ = ["Passage", "passage_of"]

_FULL = ("E", "L")
"""Masks that must be full at the beginning: every PE is enabled, outside routines."""


@dataclass(slots=True, eq=False)
class Passage:
    """A run as one program of the lanes, and what it makes of the texture unit."""

    actions: tuple[Action, ...]
    look: tuple[Action, ...]
    """Look whether the masks are full: then ``differs[0]`` stays 0."""
    differs: NDArray[np.uint8]
    before: TextureState
    fills: bool
    """Whether the last read fills all data corner turners, so that what they held before makes no difference."""
    after: TextureState
    moved: dict[str, int]
    """Bytes that go each way in it."""
    versions: tuple[int, ...]
    """Of texture memory."""
    lee: int
    """Of the registers of the LEE."""
    reads: tuple[Again, ...]
    anew: Rereading | None
    """How they are made anew, where that can be."""

    def carry_out(self, array: PeArray, unit: TextureUnit) -> bool:
        """Make the run, where it asks for the same; else do nothing. Return whether it was made."""
        if array.lee.version != self.lee or not unit.is_as(self.before, dct=not self.fills):
            return False
        array.run(self.look)
        array.settle()
        if self.differs[0]:
            self.differs[0] = 0
            return False
        if unit.versions != self.versions and not self._read_anew(unit):
            return False
        array.run(self.actions)
        moved = {way: count + self.moved[way] for way, count in unit.moved.items()}
        unit.restore(self.after)
        unit.moved = moved
        return True

    def _read_anew(self, unit: TextureUnit) -> bool:
        """Have the ports get what stands in texture memory now; return whether that could be done."""
        if self.anew is None:
            return False
        for again, blocks in zip(self.reads, self.anew.blocks(), strict=True):
            again.place.kept.renew(blocks)
        read = self.reads[-1].same.read
        self.after.dct = LastRound.of(read.addresses, read.valid, read.data_of(blocks)).data
        self.versions = unit.versions
        return True


def passage_of(score: Score, array: PeArray, unit: TextureUnit, before: TextureState) -> Passage | None:
    """Return the passage of a score that has just been replayed; None where a transfer is not known beforehand.

    ``before`` is the snapshot of the texture unit from before the replay.
    """
    engine = array.engine
    follower, actions, reads = engine.follow(_FULL), [], []
    for step in score.steps:
        match step:
            case Lanes(some):
                actions += some
                for action in some:
                    follower.carry_out(action)
            case Begin(again=again):
                if again is None or not follower.holds("MR", again.same.read.marks_row):
                    return None
                if not follower.holds(OUTPUT_PORT, again.same.read.given):
                    return None
                reads.append(again)
            case End():
                actions.append(reads[-1].place)
                follower.forget(INPUT_PORT, PORT_BYTES)
            case Settings():
                return None
    differs = np.zeros(1, np.uint8)
    full = np.full((1, engine.shape.lanes), 0xFF, np.uint8)
    look = tuple(engine.comparing(mask, full, differs) for mask in _FULL)
    if None in look:
        return None
    after = unit.snapshot()
    moved = {way: count - before.moved[way] for way, count in after.moved.items()}
    fills = bool(reads) and isinstance(reads[-1].same.read.last.emcs, slice)
    anew = None
    if fills and all(again.place.kept.blocks is not None for again in reads):
        anew = unit.rereading([again.same.read for again in reads])
    lee = array.lee.version
    return Passage(tuple(actions), look, differs, before, fills, after, moved, unit.versions, lee, tuple(reads), anew)
