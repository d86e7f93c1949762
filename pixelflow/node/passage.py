"""Repeated runs whose transfers are known beforehand: all that happens to the lanes is one piece of native code.

A read of texture memory follows from marks and addresses. Where these follow from the program and from the places of
the PEs alone, as they do where the LEE tells each PE its patch, nobody has to look whether they are the same: only the
masks with which the run begins and the registers of LEE and TASICs can make a difference. Other contents of texture
memory are read at the same addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa.registers import INPUT_PORT, OUTPUT_PORT, PORT_BYTES
from pixelflow.node import texture_state
from pixelflow.node.kept_reads import LastRound
from pixelflow.node.pe_array import PeArray
from pixelflow.node.rereading import Rereading
from pixelflow.node.score import Again, Begin, End, Lanes, Score, Settings
from pixelflow.node.texture_unit import TextureUnit
from pixelflow.simd.lanes.engine import Action

__all__ = ["Passage", "passage_of"]

_FULL = ("E", "L")
"""Masks that must be full at the beginning: every PE is enabled, outside routines."""

_MOVED = "moved"


@dataclass(slots=True, eq=False)
class Passage:
    """A run as one program of the lanes, and what it makes of the texture unit."""

    actions: tuple[Action, ...]
    look: tuple[Action, ...]
    """Look whether the masks are full: then ``differs[0]`` stays 0."""
    differs: NDArray[np.uint8]
    before: dict[str, Any]
    after: dict[str, Any]
    """The state of the texture unit, without the bytes that it has moved since it was made."""
    moved: dict[str, int]
    versions: tuple[int, ...]
    """Of texture memory."""
    lee: int
    """Of the registers of the LEE."""
    reads: tuple[Again, ...]
    anew: Rereading | None
    """How they are made anew, where that can be."""

    def carry_out(self, array: PeArray, unit: TextureUnit) -> bool:
        """Make the run, where it asks for the same; else do nothing. Return whether it was made."""
        if array.lee.version != self.lee or not texture_state.is_in(unit, self.before):
            return False
        array.run(self.look)
        array.settle()
        if self.differs[0]:
            self.differs[0] = 0
            return False
        if unit.versions != self.versions and not self._read_anew(unit):
            return False
        array.run(self.actions)
        texture_state.restore(unit, self.after)
        for way, count in self.moved.items():
            unit.moved[way] += count
        return True

    def _read_anew(self, unit: TextureUnit) -> bool:
        """Have the ports get what stands in texture memory now; return whether that could be done."""
        if self.anew is None:
            return False
        for again, blocks in zip(self.reads, self.anew.blocks(), strict=True):
            again.place.kept.renew(blocks)
        read = self.reads[-1].same.read
        self.after["_held_data"] = LastRound.of(read.addresses, read.valid, read.data_of(blocks)).data
        self.versions = unit.versions
        return True


def passage_of(score: Score, array: PeArray, unit: TextureUnit, before: dict[str, Any]) -> Passage | None:
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
    after = texture_state.snapshot(unit)
    moved = {way: count - before[_MOVED][way] for way, count in after.pop(_MOVED).items()}
    asked = {name: value for name, value in before.items() if name != _MOVED}
    anew = None
    # What the corner turners held before makes no difference where the last read fills them all.
    if reads and isinstance(reads[-1].same.read.last.emcs, slice):
        del asked["_held_data"]
        if all(again.place.kept.blocks is not None for again in reads):
            anew = unit.rereading([again.same.read for again in reads])
    lee = array.lee.version
    return Passage(tuple(actions), look, differs, asked, after, moved, unit.versions, lee, tuple(reads), anew)
