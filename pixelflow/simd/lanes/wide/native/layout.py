"""Frame of a group: where its registers stand between runs, and how they come there from numpy's values and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.form import Op
from pixelflow.simd.lanes.wide.native.program import HEADER, GroupProgram, singles
from pixelflow.simd.lanes.wide.words import LaneValues

__all__ = ["GroupFrame", "RegisterPlace"]

_ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class RegisterPlace:
    """A register in a frame, from byte ``at`` on."""

    name: str | int
    """A register's name, or the number of a row."""
    at: int
    bits: int
    single: bool
    is_written: bool


@dataclass(frozen=True, slots=True)
class GroupFrame:
    """The registers that a program touches, by their places, and the bytes of a frame."""

    places: Mapping[int, RegisterPlace]
    bytes: int
    group: int

    @classmethod
    def of(cls, program: GroupProgram, varying: frozenset[int]) -> GroupFrame:
        """Lay out a frame; ``varying`` are words and carries, by place, that differ between lanes at first."""
        shape, single = program.shape, singles(program, varying)
        named: dict[int, str | int] = {place: name for name, place in program.places.items()}
        flags = {program.places[name] for name in (*shape.carries, *shape.masks)}
        read, written = {program.places[program.following]}, {program.places[program.following]}
        for part in program.parts:
            for step in part.form.steps:
                if step.op in (Op.LOAD, Op.STORE):
                    (read if step.op is Op.LOAD else written).add(part.operands[step.detail])
        places: dict[int, RegisterPlace] = {}
        at = HEADER
        # Vectors first, so that each is aligned.
        for place in sorted(read | written, key=lambda each: (each in single or each in flags, each)):
            bits = 1 if place in flags else 32
            places[place] = RegisterPlace(named.get(place, place), at, bits, place in single, place in written)
            at += 4 if bits == 1 or place in single else 4 * shape.group
        return cls(places, -(-at // _ALIGNMENT) * _ALIGNMENT, shape.group)

    def filled(self, values: LaneValues, groups: int) -> NDArray[np.uint32]:
        """Return frames with these values: uint32[group, word], beginning at the boundary of a line."""
        memory = np.zeros(groups * self.bytes // 4 + _ALIGNMENT // 4, np.uint32)
        first = -memory.ctypes.data % _ALIGNMENT // 4
        frames = memory[first : first + groups * self.bytes // 4].reshape(groups, -1)
        for place in self.places.values():
            at = place.at // 4
            if isinstance(place.name, int):
                frames[:, at : at + self.group] = values.rows[place.name]
            elif place.bits == 32:
                size = 1 if place.single else self.group
                frames[:, at : at + size] = values.words[place.name][:, :size]
            elif place.single:
                frames[:, at] = values.flags[place.name][:, 0]
            else:
                frames[:, at] = _packed(values.flags[place.name], self.group)
        return frames

    def taken(self, frames: NDArray[np.uint32]) -> LaneValues:
        """Return the values of rows and registers that the program writes."""
        rows: dict[int, NDArray[np.uint32]] = {}
        words: dict[str, NDArray[np.uint32]] = {}
        flags: dict[str, NDArray[np.bool_]] = {}
        for place in self.places.values():
            if not place.is_written:
                continue
            at = place.at // 4
            size = 1 if place.single or place.bits == 1 else self.group
            value = frames[:, at : at + size]
            if isinstance(place.name, int):
                rows[place.name] = value.copy()
            elif place.bits == 32:
                words[place.name] = value.copy()
            else:
                lanes = np.arange(1 if place.single else self.group, dtype=np.uint32)[None]
                flags[place.name] = value >> lanes & np.uint32(1) != 0
        return LaneValues(rows, words, flags)


def _packed(bits: NDArray[np.bool_], group: int) -> NDArray[np.uint32]:
    """Return rows of truth values as numbers, lane 0 in bit 0."""
    if bits.shape[1] == 1:
        return bits[:, 0] * np.uint32((1 << group) - 1)
    packed = np.zeros((len(bits), 4), np.uint8)
    eights = np.packbits(bits, axis=1, bitorder="little")
    packed[:, : eights.shape[1]] = eights
    return packed.view("<u4")[:, 0]
