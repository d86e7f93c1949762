"""Programs for groups of lanes as native code: parts, branches, frames, and their compilation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.engine import Shape
from pixelflow.simd.lanes.form import FormStep, Op, Part, places_of
from pixelflow.simd.lanes.words import LaneValues

# Programs for groups that go their own ways: parts, branches, blocks, and which registers a group has once.
#
# A register of the shape's words and carries is *single* where every program step that writes it writes the same to all
# lanes of a group; it is then one number natively. Rows and masks have a value for each lane.


NOTHING, COUNTS, LINES = range(3)
"""Notes about a program: none, blocks with counts of lines, and these lines too."""

HEADER = 64
"""Bytes at the beginning of a frame: the block to continue with plus one (32 bits, 0 for a group that has not begun),
the branch that led back to it (32 bits), and how many parts the group has executed (64 bits)."""

_FIXED = {
    *(Op.MULTIPLY, Op.MULTIPLY_HIGH, Op.SHIFT_UP, Op.SHIFT_DOWN, Op.SPREAD, Op.COLLECT, Op.ROUTE),
    *(Op.FLOAT_ADD, Op.FLOAT_MULTIPLY, Op.FLOAT_DIVIDE, Op.FLOAT_FUSE, Op.FLOAT_EQUAL, Op.FLOAT_LESS),
    *(Op.TO_FLOAT, Op.TO_INTEGER, Op.HALF_TO_FLOAT),
    *(Op.DOUBLE_ADD, Op.DOUBLE_MULTIPLY, Op.DOUBLE_FUSE, Op.DOUBLE_EQUAL, Op.DOUBLE_LESS),
    *(Op.TO_DOUBLE, Op.DOUBLE_TO_INTEGER, Op.FLOAT_TO_DOUBLE, Op.DOUBLE_TO_FLOAT),
}
"""A part that is faster with a constant compiled into its code."""
_TOUCHING = Op.FETCH, Op.PUT


class Unsupported(ValueError):
    """A part without native code; numpy executes it."""


@dataclass(frozen=True, eq=False)
class GroupProgram:
    """Program of every group, from its first part, each in its own way.

    Branches write the address to continue at to the register ``following``; a group ends where that is ``stopped``, or
    past the last part. ``addresses`` are those of all parts and the one past them. ``begins`` are the numbers of parts
    with which blocks begin, ascending: at least the first, those after branches and those that branches lead to.
    """

    shape: Shape
    parts: Sequence[Part]
    branches: Sequence[bool]
    addresses: Sequence[int]
    following: str
    stopped: int
    begins: Sequence[int]
    name: str = "the program"
    fixed: tuple[tuple[bool, ...], ...] = field(init=False)
    """Of each part, which of its operands code is made for: all but numbers that are read when it runs."""
    accessing: int = field(init=False)
    """How many parts touch memory."""

    def __post_init__(self) -> None:
        flow = list(zip(self.parts, self.branches, strict=True))
        once = {(id(part), branch): _fixed_operands(part, branch) for part, branch in flow}
        object.__setattr__(self, "fixed", tuple([once[id(part), branch] for part, branch in flow]))
        access = {id(part.form): any(map(touches, part.form.steps)) for part in self.parts}
        object.__setattr__(self, "accessing", sum(access[id(part.form)] for part in self.parts))

    @cached_property
    def places(self) -> dict[str, int]:
        """The places of registers and flags, past the rows."""
        return places_of(self.shape)

    @cached_property
    def number_at(self) -> dict[int, int]:
        """The number of the part at an address."""
        return {address: number for number, address in enumerate(self.addresses[: len(self.parts)])}

    @cached_property
    def literals(self) -> list[int]:
        """The numbers that are read when it runs, part after part."""
        return [
            value & 0xFFFFFFFF
            for part, fixed in zip(self.parts, self.fixed, strict=True)
            for value, known in zip(part.operands, fixed, strict=True)
            if not known
        ]

    @cached_property
    def writes_memory(self) -> bool:
        """True if anything is ever written to memory."""
        return any(step.op is Op.PUT for part in self.parts for step in part.form.steps)

    def block_of(self, number: int) -> int:
        """Return the number of the block that a part is in."""
        return bisect_right(self.begins, number) - 1

    def parts_of(self, block: int) -> range:
        """Return the numbers of a block's parts."""
        end = self.begins[block + 1] if block + 1 < len(self.begins) else len(self.parts)
        return range(self.begins[block], end)


def _fixed_operands(part: Part, branch: bool) -> tuple[bool, ...]:
    fixed = [True] * len(part.operands)
    if not branch:
        for at, step in enumerate(part.form.steps):
            if step.op is Op.LITERAL:
                fixed[step.detail] = any(at in each.inputs and each.op in _FIXED for each in part.form.steps)
    return tuple(fixed)


def touches(step: FormStep) -> bool:
    """Return whether a step touches memory."""
    return step.op in _TOUCHING


def most_words(program: GroupProgram, noting: int) -> int:
    """Return how many words a group may note from one look for room to the next: no block comes twice between."""
    return len(program.begins) + program.accessing * (1 if noting == COUNTS else 1 + 2 * program.shape.group)


def needed_steps(program: GroupProgram, block: int) -> dict[int, list[bool]]:
    """Return for each part of a block which steps anything depends on: memory, or a register as the block leaves it."""
    overwritten: set[int] = set()
    needed: dict[int, list[bool]] = {}
    for number in reversed(program.parts_of(block)):
        form, operands = program.parts[number]
        if program.branches[number]:
            overwritten.discard(program.places[program.following])
        wanted = needed[number] = [False] * len(form.steps)
        for at in reversed(range(len(form.steps))):
            step = form.steps[at]
            if step.op is Op.STORE:
                place = operands[step.detail]
                wanted[at] = place not in overwritten
                overwritten.add(place)
            elif touches(step):
                wanted[at] = True
            if wanted[at]:
                if step.op is Op.LOAD:
                    overwritten.discard(operands[step.detail])
                for taken in step.inputs:
                    wanted[taken] = True
    return needed


def singles(program: GroupProgram, varying: frozenset[int]) -> frozenset[int]:
    """Return the places that hold one value a group, where those in ``varying`` do not at the beginning."""
    shape = program.shape
    single = {program.places[name] for name in (*shape.words, *shape.carries)} - varying
    # The same form with the same registers says the same: parts are looked at once.
    parts = {(id(part.form), tuple(part.operands)): part for part in program.parts}.values()
    while True:
        before = len(single)
        for part in parts:
            _keep_single(part, single)
        if len(single) == before:
            return frozenset(single)


def _keep_single(part: Part, single: set[int]) -> None:
    """Take out of ``single`` the places that a part writes lane by lane."""
    one: list[bool] = []
    written: dict[int, bool] = {}
    for step in part.form.steps:
        match step.op:
            case Op.LOAD:
                place = part.operands[step.detail]
                one.append(written.get(place, place in single))
            case Op.SERIES | Op.PATTERN | Op.RANK | Op.AFFINE:
                one.append(False)
            case Op.COLLECT:
                one.append(True)
            case Op.SPREAD:
                one.append(False)
            case Op.FETCH:
                # With a condition lanes are read one by one, those that take no part as 0.
                one.append(len(step.inputs) == 1 and one[step.inputs[0]])
            case Op.STORE:
                place = part.operands[step.detail]
                one.append(one[step.inputs[0]])
                written[place] = one[-1]
                if not one[-1]:
                    single.discard(place)
            case _:
                one.append(all(one[taken] for taken in step.inputs))


# Frame of a group: the registers between runs, and their conversion from numpy's values and back.


_ALIGNMENT = 64


class RegisterPlace(NamedTuple):
    """A register in a frame, starting at byte ``at``."""

    name: str | int
    """A register's name, or the number of a row."""
    at: int
    bits: int
    single: bool
    is_written: bool


class GroupFrame(NamedTuple):
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
            at, size = place.at // 4, 1 if place.single else self.group
            if isinstance(place.name, int) or place.bits == 32:
                words = values.rows[place.name] if isinstance(place.name, int) else values.words[place.name]
                if words.size > 1 or words.item():  # most are 0 at first
                    frames[:, at : at + size] = words[:, :size]
            elif (bits := values.flags[place.name]).size > 1 or bits.item():
                frames[:, at] = bits[:, 0] if place.single else _packed(bits, self.group)
        return frames

    def taken(self, frames: NDArray[np.uint32]) -> LaneValues:
        """Return the values of rows and registers that the program writes, as parts of the frames."""
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
                rows[place.name] = value
            elif place.bits == 32:
                words[place.name] = value
            else:
                octets = np.ascontiguousarray(value, "<u4").view(np.uint8)
                count = 1 if place.single else self.group
                flags[place.name] = np.unpackbits(octets, axis=1, count=count, bitorder="little").view(np.bool_)
        return LaneValues(rows, words, flags)


def _packed(bits: NDArray[np.bool_], group: int) -> NDArray[np.uint32]:
    """Return rows of truth values as numbers, lane 0 in bit 0."""
    if bits.shape[1] == 1:
        return bits[:, 0] * np.uint32((1 << group) - 1)
    packed = np.zeros((len(bits), 4), np.uint8)
    eights = np.packbits(bits, axis=1, bitorder="little")
    packed[:, : eights.shape[1]] = eights
    return packed.view("<u4")[:, 0]
