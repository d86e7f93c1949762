"""Repeated runs whose transfers are known beforehand: all that happens to the lanes is one piece of native code.

A read of texture memory follows from marks and addresses. Where these follow from the program and from the places of
the PEs alone, as they do where the LEE tells each PE its patch, nobody has to look whether they are the same: only the
masks with which the run begins, registers of LEE and TASICs and the contents of texture memory can make a difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa.registers import INPUT_PORT, OUTPUT_PORT, PORT_BYTES
from pixelflow.lanes.engine import Action
from pixelflow.node import texture_state
from pixelflow.node.pe_array import PeArray
from pixelflow.node.score import Begin, End, Lanes, Score, Settings
from pixelflow.node.texture_unit import TextureUnit
from pixelflow.records import record

__all__ = ["Passage", "passage_of"]

_FULL = ("E", "L")
"""Masks that must be full at the beginning: every PE is enabled, outside routines."""

_MOVED = "moved"


@record(eq=False)
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

    def carry_out(self, array: PeArray, unit: TextureUnit) -> bool:
        """Make the run, where all is as it was; else do nothing. Return whether it was made."""
        if (array.lee.version, unit.versions) != (self.lee, self.versions) or not texture_state.is_in(
            unit, self.before
        ):
            return False
        array.run(self.look)
        array.settle()
        if self.differs[0]:
            self.differs[0] = 0
            return False
        array.run(self.actions)
        texture_state.restore(unit, self.after)
        for way, count in self.moved.items():
            unit.moved[way] += count
        return True


def passage_of(score: Score, array: PeArray, unit: TextureUnit, before: dict[str, Any]) -> Passage | None:
    """Return the passage of a score that has just been replayed; None where a transfer is not known beforehand.

    ``before`` is the snapshot of the texture unit from before the replay.
    """
    engine = array.engine
    follower, actions = engine.follow(_FULL), []
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
                coming = again.place
            case End():
                actions.append(coming)
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
    kept = {name: value for name, value in before.items() if name != _MOVED}
    return Passage(tuple(actions), look, differs, kept, after, moved, unit.versions, array.lee.version)
