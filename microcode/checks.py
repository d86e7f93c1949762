"""Static checks of programs: mistakes that assemble. First footprints: bytes and registers that instructions touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from pixelflow.simd.errors import Place
from pixelflow.simd.isa.declare import Flow, Instruction
from pixelflow.simd.isa.effects import effects
from pixelflow.simd.isa.operands import Mem, Target
from pixelflow.simd.isa.program import AssembledProgram, Routine

Places = frozenset[tuple[int | None, int]]
"""Bytes, as (parameter or None, offset)."""


class Footprint(NamedTuple):
    """Bytes read and written, and the registers and flags written."""

    reads: Places = frozenset()
    writes: Places = frozenset()
    registers: frozenset[str] = frozenset()


_APART = 1 << 20
"""Distance between the assumed values of parameters, beyond the reach of any offset."""
_PARAMETERS = range(_APART, 32 * _APART, _APART)


@lru_cache(maxsize=8192)
def footprint(instruction: Instruction) -> Footprint:
    """Return the footprint of an instruction; an empty one if its meaning is not over lanes."""
    if not instruction.declaration.on_lanes:
        return Footprint()
    touched = effects(instruction.resolve(_PARAMETERS).apply)
    reads, writes = (
        frozenset(_based(row) for row in state if isinstance(row, int)) for state in (touched.reads, touched.writes)
    )
    return Footprint(reads, writes, frozenset(name for name in touched.writes if isinstance(name, str)))


def _based(row: int) -> tuple[int | None, int]:
    base = (row + _APART // 2) // _APART
    return (None, row) if base == 0 else (base - 1, row - base * _APART)


# Aliasing: calls whose arguments overlap although the declaration of the routine forbids it.
#
# The reach of a routine from each parameter follows from its code and that of the routines it calls; allowed overlaps
# are in its declaration (``whole``, ``apart``).


Reach = dict[int, tuple[int, int]]
"""For each parameter that is an address, the first byte that the routine touches, and the one past the last."""


def _reach_of(program: AssembledProgram, routine: Routine, known: dict[int, Reach]) -> Reach:
    """Return the reach of a routine from each parameter; ``known`` are those by entry. Recursion adds nothing."""
    if routine.entry in known:
        return known[routine.entry]
    widest = known[routine.entry] = {}
    entries = {each.entry: each for each in program.routines}
    for at, instruction in zip(program.addresses, program.instructions, strict=True):
        if not routine.entry <= at < routine.end:
            continue
        touched = footprint(instruction)
        for base, offset in touched.reads | touched.writes:
            if base is not None:
                _widen(widest, base, offset, offset + 1)
        called = entries.get(instruction.operands[0]) if instruction.declaration.flow is Flow.CALL else None
        if called is not None:
            reach = _reach_of(program, called, known)
            for number, argument in enumerate(instruction.operands[1]):
                if isinstance(argument, Mem) and argument.base is not None and number in reach:
                    low, high = reach[number]
                    _widen(widest, argument.base, argument.offset + low, argument.offset + high)
    return widest


def _widen(reach: Reach, base: int, low: int, high: int) -> None:
    before = reach.get(base, (low, high))
    reach[base] = min(before[0], low), max(before[1], high)


def _calls(program: AssembledProgram) -> Iterator[tuple[int, Instruction, Routine]]:
    """Yield the calls of routines: position, instruction and routine."""
    entries = {routine.entry: routine for routine in program.routines}
    for index, instruction in enumerate(program.instructions):
        if instruction.declaration.flow is Flow.CALL and (called := entries.get(instruction.operands[0])) is not None:
            yield index, instruction, called


def _overlapping_operands(program: AssembledProgram) -> Iterator[Finding]:
    """Calls whose arguments overlap against the routine's declaration."""
    known: dict[int, Reach] = {}
    for index, instruction, called in _calls(program):
        if not (called.entire or called.apart):
            continue
        reach = _reach_of(program, called, known)
        places = {
            name: (argument, argument.offset + reach[number][0], argument.offset + reach[number][1])
            for number, (name, argument) in enumerate(zip(called.parameters, instruction.operands[1], strict=False))
            if isinstance(argument, Mem) and number in reach
        }
        said: set[frozenset[str]] = set()
        for name in (*called.apart, *called.entire):
            for other in places:
                pair = frozenset((name, other))
                if name not in places or name == other or pair in said:
                    continue
                (mine, low, high), (theirs, first, end) = places[name], places[other]
                if mine.base != theirs.base or high <= first or end <= low:
                    continue
                strict = name in called.apart or other in called.apart
                if mine.offset == theirs.offset and not strict:
                    continue
                said.add(pair)
                by_part = "" if mine.offset == theirs.offset else " by a part"
                bytes_of = f"bytes {low}..{high - 1} and {first}..{end - 1}"
                allowed = "is apart from all others" if strict else "is that of another one as a whole, or apart"
                whose = name if not strict or name in called.apart else other
                message = f"what {called.name} takes as {name} overlaps {other}{by_part}: {bytes_of}"
                yield Finding(message, _place(program, index), f"{called.name}: {whose} {allowed}")


# Checks: functions from a program to findings. Findings are suspicions, and stop no program from running.


LONGEST_CHAIN = 100
"""Nested calls that are followed; a machine has far fewer frames."""


class Finding(NamedTuple):
    """Suspicion: message, place (None for the program as a whole), and advice."""

    message: str
    place: Place | None = None
    hint: str | None = None

    def __str__(self) -> str:
        head = f"{self.place}: warning: {self.message}" if self.place else f"warning: {self.message}"
        if self.place is not None and self.place.text is not None:
            head += f"\n{self.place.line:>5} | {self.place.text}"
        return head + (f"\n    {self.hint}" if self.hint else "")


def check(program: AssembledProgram) -> list[Finding]:
    """Return the findings of all checks, in the order of the program."""
    findings: dict[Finding, None] = {}
    for examine in _CHECKS:
        for finding in examine(program):
            findings.setdefault(finding)
    return sorted(findings, key=lambda item: (item.place.file, item.place.line or 0) if item.place else ("", 0))


def _place(program: AssembledProgram, index: int) -> Place | None:
    line = program.line_at(index)
    if line is None:
        return None
    return Place(line.file, line.line, 1 + len(line.text) - len(line.text.lstrip()), line.text)


def _each(program: AssembledProgram) -> Iterator[tuple[int, int, Instruction, Routine | None]]:
    for index, (at, instruction) in enumerate(zip(program.addresses, program.instructions, strict=True)):
        yield index, at, instruction, program.routine_at(at)


def _targets(program: AssembledProgram) -> Iterator[Finding]:
    """Jumps between routines, calls of labels, targets inside of instructions."""
    entries = {routine.entry: routine for routine in program.routines}
    for index, _, instruction, routine in _each(program):
        target = instruction.operands[0] if instruction.declaration.flow in (Flow.JUMP, Flow.CALL) else None
        if target is None:
            continue
        place = _place(program, index)
        if target not in program.index_of:
            yield Finding(f"word {target} is not the start of an instruction", place)
        elif instruction.declaration.flow is Flow.JUMP and (into := program.routine_at(target)) != routine:
            way, other = ("into", into) if into else ("out of", routine)
            what = f"jump {way} routine {other.name if other else ''}"
            yield Finding(what, place, "the return address and the latch are then another routine's")
        elif instruction.declaration.flow is Flow.CALL and target not in entries:
            yield Finding("the call's target is not the start of a routine or proc", place)
        elif instruction.declaration.flow is Flow.CALL:
            called, given = entries[target], instruction.operands[1]
            if len(given) != len(called.parameters):
                wanted = ", ".join(called.parameters) or "none"
                message = f"{called.name} has {len(called.parameters)} parameters ({wanted}), {len(given)} are passed"
                yield Finding(message, place)


def _stray_writes(program: AssembledProgram) -> Iterator[Finding]:
    """Started routines that write memory outside parameters and declared scratch."""
    for index, _, instruction, routine in _each(program):
        if routine is None or not routine.started:
            continue
        allowed = [range(start, start + size) for start, size in routine.scratch]
        for base, row in sorted(footprint(instruction).writes, key=str):
            if base is None and not any(row in area for area in allowed):
                message = f"routine {routine.name} writes byte {row}, which is neither a parameter nor declared scratch"
                yield Finding(message, _place(program, index), f"declare it: uses {row}, size")
                break


def _scratch_clashes(program: AssembledProgram) -> Iterator[Finding]:
    """Calls with arguments in the scratch of the called routine."""
    for index, instruction, called in _calls(program):
        for name, argument in zip(called.parameters, instruction.operands[1], strict=False):
            passed = (each for each in program.ranges if argument.base is None and each.start == argument.offset)
            clash = next(passed, None)
            for start, size in called.scratch:
                if clash is not None and clash.start < start + size and start < clash.start + clash.size:
                    message = f"{clash.name}, passed as {name}, is in the scratch of {called.name}"
                    hint = f"{called.name} overwrites bytes {start}..{start + size - 1}"
                    yield Finding(message, _place(program, index), hint)


def _enable_stack(program: AssembledProgram) -> Iterator[Finding]:
    """Saves and restores of enables that do not pair up in the text of a routine or stream."""
    deepest = program.saved_enables
    if deepest is None:
        return
    by_effect = {each.pushes: each.mnemonic for each in program.instruction_set.values()}
    save, restore = by_effect[1], by_effect[-1]
    unpaired = f"{save} without {restore}"
    depth, last, current = 0, None, None
    for index, at, instruction, routine in _each(program):
        section = routine.name if routine else f"stream {_stream(program, at)}"
        if section != current:
            yield from _left_over(program, depth, last, unpaired)
            depth, last, current = 0, None, section
        if instruction.declaration.pushes > 0:
            depth, last = depth + 1, index
            if depth == deepest + 1:
                message = f"the enable stack is {deepest} deep; this {save} is one too many"
                yield Finding(message, _place(program, index))
        elif instruction.declaration.pushes < 0:
            if depth == 0:
                yield Finding(f"{restore} without {save} in {section}", _place(program, index))
            depth = max(0, depth - 1)
    yield from _left_over(program, depth, last, unpaired)


def _left_over(program: AssembledProgram, depth: int, last: int | None, message: str) -> Iterator[Finding]:
    if depth and last is not None:
        yield Finding(message, _place(program, last))


def _stream(program: AssembledProgram, at: int) -> str:
    return max(((start, name) for name, start in program.entries.items() if start <= at), default=(0, "?"))[1]


def _call_depth(program: AssembledProgram) -> Iterator[Finding]:
    """Chains of started routines deeper than the latch stack, and recursion."""
    deepest = program.started_routines
    if deepest is None:
        return
    calls: dict[int, list[tuple[int, int]]] = {}
    entries = {routine.entry: routine for routine in program.routines}
    for index, _, instruction, routine in _each(program):
        if instruction.declaration.flow is Flow.CALL and instruction.operands[0] in entries:
            calls.setdefault(routine.entry if routine else -1, []).append((index, instruction.operands[0]))
    depths: dict[int, int] = {}
    beyond = deepest + 1

    def depth(entry: int, chain: tuple[int, ...]) -> int:
        if entry in chain or len(chain) == LONGEST_CHAIN:
            return beyond
        if entry not in depths:
            inner = (depth(callee, (*chain, entry)) for _, callee in calls.get(entry, ()))
            depths[entry] = max(inner, default=0) + entries[entry].started
        return depths[entry]

    for index, callee in calls.get(-1, ()):
        if depth(callee, ()) >= beyond:
            message = f"calls nest deeper than the latch stack ({deepest}), or {entries[callee].name} calls itself"
            yield Finding(message, _place(program, index))


def _unreachable(program: AssembledProgram) -> Iterator[Finding]:
    """Instructions that no path from the start of a stream reaches, and routines of the program's file likewise.

    Included files may have routines that are never called.
    """
    reached = _reached(program)
    lines = [program.line_at(index) for index in range(len(program.instructions))]
    own = {line.file for index, _, _, routine in _each(program) if routine is None and (line := lines[index])}
    blocked = False
    for index, at, instruction, routine in _each(program):
        if index in reached:
            blocked = False
            continue
        closing = routine is not None and at + instruction.words == routine.end
        line = lines[index]
        if line is None or closing:
            continue
        if routine is not None and program.index_of[routine.entry] not in reached:
            if at == routine.entry and line.file in own:
                yield Finding(f"{routine.name} is never called", _place(program, index))
            blocked = False
        elif not blocked:
            yield Finding("this is never executed", _place(program, index))
            blocked = True


def _reached(program: AssembledProgram) -> set[int]:
    """Return the reachable instructions; control never depends on data."""
    index_of, reached = program.index_of, set()
    ahead = [index_of[at] for at in program.entries.values() if at in index_of]
    while ahead:
        index = ahead.pop()
        if index in reached or index >= len(program.instructions):
            continue
        reached.add(index)
        instruction = program.instructions[index]
        declaration = instruction.declaration
        for spec, operand in zip(declaration.operands, instruction.operands, strict=True):
            if isinstance(spec.kind, Target) and operand in index_of:
                ahead.append(index_of[operand])
        if declaration.flow not in (Flow.JUMP, Flow.RETURN, Flow.HALT):
            ahead.append(index + 1)
    return reached


def _semaphores(program: AssembledProgram) -> Iterator[Finding]:
    """Semaphores that are only waited for, or only signalled."""
    used: dict[Flow, dict[int, int]] = {Flow.WAIT: {}, Flow.SIGNAL: {}}
    for index, instruction in enumerate(program.instructions):
        if instruction.declaration.flow in used:
            used[instruction.declaration.flow].setdefault(instruction.operands[0], index)
    waits, signals = used[Flow.WAIT], used[Flow.SIGNAL]
    for semaphore in sorted(waits.keys() ^ signals.keys()):
        one, other = ("waited for", "signalled") if semaphore in waits else ("signalled", "waited for")
        place = _place(program, (waits | signals)[semaphore])
        yield Finding(f"semaphore {semaphore} is {one} but never {other}", place)


_CHECKS: tuple[Callable[[AssembledProgram], Iterator[Finding]], ...] = (
    _targets,
    _stray_writes,
    _scratch_clashes,
    _overlapping_operands,
    _enable_stack,
    _call_depth,
    _unreachable,
    _semaphores,
)
