"""Straight code: instructions that a run skips as a whole, which take the sum of their cycles.

It holds PE instructions only: no control, nothing that changes the depth of a stack, and no read that waits for the
port after a store. Plain straight code is invisible to the texture side, except that addresses relative to a parameter
are checked for ports in each pass. It may contain beginnings of stages (MARK), which take no time, where words are
there at once. Settings are writes to registers of the LEE. Code that the texture side can notice (`shared`) is
straight in timing-only runs: it begins and ends with an instruction that uses a port, and sets no mark; `PortTimes`
looks into it when a transfer comes. The call of a routine of straight code is straight code as well (`analysis.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pixelflow.isa import INPUT_PORT, OUTPUT_PORT, PORT_BYTES, Family, Instruction, Unit
from pixelflow.isa.control import CALL, MARK
from pixelflow.node.run.stalls import Stalls
from pixelflow.simd.isa.declare import Declaration
from pixelflow.simd.isa.kinds import ByKind

# Instructions of the EMC stream that are visible to the texture side: those that touch a local port or set a mark.


_AT_ONCE = 64
"""Instructions looked at together, at first: most straight code is not longer."""

_NO_STAGES: tuple[Sequence[int], Sequence[int]] = (), ()

_PORTS = range(INPUT_PORT, OUTPUT_PORT + PORT_BYTES)


def meets_ports(start: int, size: int) -> bool:
    """Return whether ``size`` bytes starting at ``start`` of PE memory reach into a local port."""
    return start < _PORTS.stop and start + size > _PORTS.start


def sharing(instruction: Instruction) -> bool | None:
    """Return whether an instruction is visible to the texture side; None where that depends on parameters."""
    if instruction.declaration.family is Family.PORT:
        return True
    found: bool | None = False
    for first, size in instruction.touches:
        if first.base is not None:
            found = None
        elif meets_ports(first.offset, size):
            return True
    return found


class PortUse:
    """Visibility of all instructions of a program, with the parameters of a frame."""

    def __init__(self, instructions: ByKind) -> None:
        self._kinds, self._kind_of = instructions.kinds, instructions.kind_list
        # Filled on first execution: most instructions of a library are never executed.
        self._known: dict[int, bool | tuple[tuple[int, int, int], ...]] = {}

    def certain(self, kind: int) -> bool | None:
        """Return the result of `sharing` for instructions of a kind."""
        known = self._of(kind)
        return known if isinstance(known, bool) else None

    def reach(self, kinds: Iterable[int]) -> tuple[tuple[int, int, int], ...]:
        """Return the bytes touched by kinds relative to each parameter: (parameter, first byte, one past the last)."""
        found: dict[int, tuple[int, int]] = {}
        for known in map(self._of, kinds):
            for base, offset, size in () if isinstance(known, bool) else known:
                low, high = found.get(base, (offset, offset))
                found[base] = (min(low, offset), max(high, offset + size))
        return tuple((base, *ends) for base, ends in found.items())

    def shared(self, index: int, parameters: Sequence[int]) -> bool:
        """Return whether an instruction touches a local port or sets a mark."""
        known = self._of(self._kind_of[index])
        if known is True or known is False:
            return known
        return any(
            base < len(parameters) and meets_ports(parameters[base] + offset, size) for base, offset, size in known
        )

    def _of(self, kind: int) -> bool | tuple[tuple[int, int, int], ...]:
        known = self._known.get(kind)
        if known is None:
            known = self._known[kind] = self._look(self._kinds[kind])
        return known

    def _look(self, instruction: Instruction) -> bool | tuple[tuple[int, int, int], ...]:
        known = sharing(instruction)
        if known is not None:
            return known
        return tuple((m.base, m.offset, size) for m, size in instruction.touches if m.base is not None)


def changes_depth(declaration: Declaration) -> bool:
    """Return whether an instruction changes the depth of a stack, which the stream tracks."""
    return bool(declaration.pushes) or declaration.family is Family.STARTUP


@dataclass(slots=True)
class CallFrame:
    """The frame of a call: return position, parameters, open loops as [body start, rounds left]."""

    return_to: int
    parameters: list[int]
    loops: list[list[int]] = field(default_factory=list)
    started: bool = False
    saved_enables: int = 0
    name: str = ""
    entered_at: int = 0


class RoutineBody(NamedTuple):
    """Instructions ``first`` to ``end - 1`` of a routine, without RET, as a call needs them."""

    first: int
    end: int
    entry: int
    """Its word address."""
    name: str
    cycles: int
    """Of the instructions and of RET."""
    started: bool
    saves: int
    """Most enables on the stack at the same time."""
    reach: tuple[tuple[int, int, int], ...]
    """For each parameter that addresses are relative to: (parameter, first byte, one past the last byte)."""
    unseen: dict[tuple[int, ...], bool]
    """By parameters, whether a call leaves the ports alone."""


@dataclass(slots=True)
class StraightCode:
    """Instructions ``first`` to ``end - 1``, executed one after the other."""

    first: int
    end: int
    cycles: int
    relative: tuple[tuple[int, int, int], ...]
    """For each parameter that addresses are relative to: (parameter, first byte, one past the last byte)."""
    shared: bool = False
    settings: bool = False
    body: RoutineBody | None = None
    """The routine that is called, where this is a call."""
    stages: tuple[Sequence[int], Sequence[int]] = _NO_STAGES
    """Stages that begin in it: the numbers of their names, and the cycles before each."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The instructions executed: (first, one past the last) each."""
        return ((self.first, self.end),)

    @property
    def length(self) -> int:
        """Number of instructions executed."""
        return self.end - self.first

    def fits(self, frames: Sequence[CallFrame]) -> bool:
        """Return whether no address meets a port in the innermost frame."""
        parameters = frames[-1].parameters
        for base, low, high in self.relative:
            if base >= len(parameters) or meets_ports(parameters[base] + low, high - low):
                return False
        return True


class StraightCodes:
    """The straight code starting at each instruction of a program, for one run; shared code only if ``timed``.

    ``known`` is a cache for all runs of the program. ``call`` makes those of calls. Stages of the first ``names`` names
    may begin in it.
    """

    def __init__(
        self,
        instructions: ByKind,
        cycles: Sequence[int],
        ports: PortUse,
        *,
        names: int = 0,
        known: dict[int, StraightCode | None] | None = None,
        stalls: Stalls | None = None,
        timed: bool = False,
        call: Callable[[int], StraightCode | None] | None = None,
    ) -> None:
        self._kinds, self._kind_of = instructions.kinds, instructions.kind_list
        self._instructions = instructions
        self._size = len(instructions)
        self._names = names
        self._cycles = cycles
        self._ports = ports
        self._known = {} if known is None else known
        self._stalls = stalls
        self._timed = timed
        self._call = call
        self._allowed: dict[int, bool] = {}
        """True for the kinds of instructions that may be in straight code, False for others."""
        self._found: dict[int, StraightCode | None] = {}
        self._skips: dict[int, int] = {}
        """Count of skips in this run, by the first instruction."""

    def at(self, first: int) -> StraightCode | None:
        """Return the longest straight code starting at an instruction; None for a single one that is not a call."""
        if first not in self._found and not self._timed and self._begins_shared(first):
            self._found[first] = None
        if first not in self._found:
            if first not in self._known:
                self._known[first] = self._make(first)
            found = self._known[first]
            there = found is not None and (self._timed or not found.shared)
            self._found[first] = found if there else None
        return self._found[first]

    def _make(self, first: int) -> StraightCode | None:
        end = first
        if first < self._size:
            if self._at(first).declaration is CALL:
                return self._call(first) if self._call is not None else None
            if self._sharing(first) is True:
                return self._make_shared(first)
            while end < self._size and self._at(end).declaration.unit is Unit.LEE:
                end += 1
            if end > first:
                return self._code(first, end, settings=True)
        end, limit, step = first, self._limit(first), _AT_ONCE
        while end < limit:
            past = min(limit, end + step)
            other = next((kind for kind in dict.fromkeys(self._kind_of[end:past]) if not self._may_hold(kind)), None)
            if other is not None:
                end = self._kind_of.index(other, end)
                break
            end, step = past, 2 * step
        return self._code(first, end)

    def _may_hold(self, kind: int) -> bool:
        """Return whether straight code may hold instructions of a kind."""
        found = self._allowed.get(kind)
        if found is None:
            plain = self._is_straight(kind) and self._ports.certain(kind) is not True
            found = self._allowed[kind] = plain or self._is_stage(kind)
        return found

    def _limit(self, first: int) -> int:
        """Return the end of what can be skipped at most: inside of it, no read waits for a store."""
        return self._size if self._stalls is None else self._stalls.up_to_read(first, self._size)

    def _at(self, index: int) -> Instruction:
        """Return an instruction without coefficients."""
        return self._kinds[self._kind_of[index]]

    def _is_stage(self, kind: int) -> bool:
        """Return whether instructions of a kind begin a stage that has a name."""
        instruction = self._kinds[kind]
        return instruction.declaration is MARK and instruction.operands[0] < self._names

    def _begins_shared(self, first: int) -> bool:
        return first < self._size and self._sharing(first) is True

    def _make_shared(self, first: int) -> StraightCode | None:
        end, index, limit = first, first, self._limit(first)
        while index < limit and self._is_straight(self._kind_of[index]) and not self._sets_mark(index):
            index += 1
            if self._sharing(index - 1) is True:
                end = index
        return self._code(first, end, shared=True)

    def _sets_mark(self, index: int) -> bool:
        return self._at(index).declaration.family is Family.PORT

    def _code(self, first: int, end: int, *, shared: bool = False, settings: bool = False) -> StraightCode | None:
        if end - first < 2:
            return None
        kinds = dict.fromkeys(self._kind_of[first:end])
        names = {kind: self._kinds[kind].operands[0] for kind in kinds if self._is_stage(kind)}
        total, staged, before = self._instructions.sums(first, end, self._cycles, names)
        if end - first - len(staged) < 2:
            return None
        stages = [names[kind] for kind in staged], before
        return StraightCode(first, end, total, self._ports.reach(kinds), shared, settings, stages=stages)

    def _is_straight(self, kind: int) -> bool:
        declaration = self._kinds[kind].declaration
        return declaration.unit is Unit.PE and not changes_depth(declaration)

    def _sharing(self, index: int) -> bool | None:
        return self._ports.certain(self._kind_of[index])

    def note(self, code: StraightCode) -> None:
        """Count a skip of straight code."""
        self._skips[code.first] = self._skips.get(code.first, 0) + 1

    def settle(self, executed: list[int]) -> None:
        """Move the counts of skipped instructions to ``executed``."""
        totals: dict[tuple[int, int], int] = {}
        for first, times in self._skips.items():
            code = self._found[first]
            for span in () if code is None else code.spans:
                totals[span] = totals.get(span, 0) + times
        self._skips.clear()
        for (first, end), times in totals.items():
            executed[first:end] = [count + times for count in executed[first:end]]
