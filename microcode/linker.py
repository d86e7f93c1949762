"""Linker: from sections to a program, with word addresses for labels and words for instructions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from microcode.draft import Draft, Pending, Rounds, Section
from microcode.language import Line
from pixelflow.simd.errors import Fault, InputError, Place, suggestion
from pixelflow.simd.isa.declare import Flow, Instruction
from pixelflow.simd.isa.kinds import KindsDraft
from pixelflow.simd.isa.operands import Name
from pixelflow.simd.isa.program import AssembledProgram, Routine, SourceLine

Code = TypeVar("Code", bound=AssembledProgram)


def link(draft: Draft, made: type[Code]) -> Code:
    """Return the program of class ``made`` for a draft, which stays unchanged; raises InputError with every fault."""
    first, *others = draft.streams.values()
    mains = [first, *(section for section in others if section.instructions)]
    sections = [*mains, *draft.routines]
    faults = link_faults(draft)
    if faults:
        raise InputError(faults)
    code = {id(section): _code(section, draft) for section in sections}
    addresses, at = {}, 0
    for section in sections:
        addresses[id(section)], at = _addresses(code[id(section)], at)
    for section in sections:
        instructions = code[id(section)]
        for pending in section.pending:
            label = pending.scope.find(pending.reference.name)
            assert label is not None  # else a fault
            target = addresses[id(label.section)][label.index]
            instructions[pending.index] = _retargeted(_single(instructions, pending.index), pending.operand, target)
    names = _numbered([code[id(section)] for section in sections], tuple(draft.names))
    kinds, line_of = KindsDraft(), list[int]()
    for section in sections:
        single: list[Instruction] = []
        for instruction, line in zip(code[id(section)], [*section.lines, -1], strict=False):
            if isinstance(instruction, Rounds):
                kinds.add_all(single)
                single.clear()
                kind_of, coefficients, own = instruction.columns(kinds.number)
                kinds.add(kind_of, coefficients)
                line_of += own
            else:
                single.append(instruction)
                line_of.append(line)
        kinds.add_all(single)
    by_kind = kinds.finished(made.instruction_set)
    program = made(
        words=by_kind.words,
        name=draft.name,
        entries={section.name: addresses[id(section)][0] for section in mains},
        labels=_labels(draft, addresses),
        routines=tuple(_routine(section, addresses[id(section)]) for section in draft.routines),
        names=names,
        ranges=draft.layout.ranges,
        data=draft.layout.blocks,
        lines=tuple(SourceLine(line.file, line.number, line.text) for line in draft.lines),
        line_of=tuple(line_of),
        needs=tuple(draft.needs.values()),
    )
    program.made_from(by_kind)
    return program


def link_faults(draft: Draft, attempted: Collection[str] = ()) -> list[Fault]:
    """Return faults: missing labels other than ``attempted`` ones, open loops, wrong counts of arguments.

    Also lines that give a stream an instruction of another one.
    """
    faults = _strangers(draft)
    for section in (*draft.streams.values(), *draft.routines):
        faults += _open_loops(section, draft)
        for pending in section.pending:
            name = pending.reference.name
            label = pending.scope.find(name)
            if label is None and name not in attempted:
                faults.append(_missing(pending, section, draft))
            elif label is not None and label.index == 0 and label.section in draft.routines:
                faults += _miscounted(pending, section, label.section, draft)
    return faults


def _strangers(draft: Draft) -> list[Fault]:
    """Return a fault for each line that gives a stream, or a routine it calls, an instruction of another stream."""
    lines = list(draft.lines)
    faults: dict[tuple[str, int, str], Fault] = {}
    for stream, main in draft.streams.items():
        barred = draft.target.barred.get(stream, ())
        for section in _called_from(main, draft):
            for instruction, number in section.drafted():
                declaration = instruction.declaration
                if declaration.unit not in barred:
                    continue
                key = (stream, number, declaration.mnemonic)
                if key in faults:
                    continue
                whose = "" if section is main else f", which calls {section.name}"
                message = f"{declaration.mnemonic} is not an instruction of stream {stream}{whose}"
                place = _word_place(lines[number], instruction.mnemonic) if number >= 0 else None
                others = [name for name, units in draft.target.barred.items() if declaration.unit not in units]
                faults[key] = Fault(message, place, f"it belongs after `stream {others[0]}`")
    return list(faults.values())


def _called_from(main: Section, draft: Draft) -> list[Section]:
    """Return the main code of a stream and the routines called from it."""
    sections = {id(main): main}
    ahead = [main]
    while ahead:
        for pending in ahead.pop().pending:
            label = pending.scope.find(pending.reference.name)
            routine = label.section if label is not None else main
            if routine in draft.routines and id(routine) not in sections:
                sections[id(routine)] = routine
                ahead.append(routine)
    return list(sections.values())


def _word_place(line: Line, word: str) -> Place:
    """Return the place of a mnemonic in its line, or of the first word if a macro or a routine made it."""
    match = re.search(rf"\b{re.escape(word)}(?![\w.])", line.text.partition(";")[0])
    at = match.start() if match else len(line.text) - len(line.text.lstrip())
    length = len(word) if match else 1
    return line.place(at + 1, length)


def _code(section: Section, draft: Draft) -> list[Instruction | Rounds]:
    """Return the instructions of a section; main code ends in HALT."""
    code = list(section.instructions)
    if section in draft.streams.values():
        at_end = section.last_label == len(code)
        halt = draft.target.instructions[draft.target.halt]
        last = code[-1] if code else None
        if at_end or not isinstance(last, Instruction) or last.declaration is not halt:
            code.append(Instruction(halt))
    return code


def _addresses(code: list[Instruction | Rounds], at: int) -> tuple[list[int], int]:
    """Return the word addresses of the instructions and of the end, and the end again."""
    addresses = [at]
    for instruction in code:
        at += instruction.words
        addresses.append(at)
    return addresses, at


def _numbered(code: Iterable[list[Instruction | Rounds]], names: Sequence[str]) -> tuple[str, ...]:
    """Number the names of stages in the order of the program, as its disassembly does; return them."""
    numbers: dict[int, int] = {}
    places: dict[int, int | None] = {}

    def numbered(instruction: Instruction) -> Instruction:
        declaration = instruction.declaration
        if id(declaration) not in places:
            named = (at for at, spec in enumerate(declaration.operands) if isinstance(spec.kind, Name))
            places[id(declaration)] = next(named, None)
        place = places[id(declaration)]
        if place is None:
            return instruction
        number = numbers.setdefault(instruction.operands[place], len(numbers))
        return _retargeted(instruction, place, number)

    for instructions in code:
        for at, each in enumerate(instructions):
            instructions[at] = each.exchanged(numbered) if isinstance(each, Rounds) else numbered(each)
    return tuple(names[number] for number in numbers)


def _single(instructions: Sequence[Instruction | Rounds], index: int) -> Instruction:
    """Return an instruction that is not part of rounds, as none with a label is."""
    instruction = instructions[index]
    assert isinstance(instruction, Instruction)
    return instruction


def _retargeted(instruction: Instruction, operand: int, target: int) -> Instruction:
    operands = list(instruction.operands)
    operands[operand] = target
    return Instruction(instruction.declaration, tuple(operands), instruction.gated)


def _place(index: int, section: Section, draft: Draft) -> Place | None:
    """Return the place of an instruction's source line."""
    number = section.lines[index]
    return list(draft.lines)[number].place() if number >= 0 else None


def _library_hint(name: str) -> str | None:
    """Return the line that includes a routine of the library."""
    # Imported for a fault alone: the catalogue takes longer to make than most programs.
    from microcode.catalogue import routine_named

    entry = routine_named(name)
    return None if entry is None else f"the library has it: {entry.include}"


def _missing(pending: Pending, section: Section, draft: Draft) -> Fault:
    place = pending.place or _place(pending.index, section, draft)
    name = pending.reference.name
    hint = suggestion(name, pending.scope.visible()) or _library_hint(name)
    if hint is None and draft.routines:
        hint = "routines: " + ", ".join(section.name for section in draft.routines[:12])
    return Fault(f"{name} is not a label or routine of this program", place, hint)


def _miscounted(pending: Pending, caller: Section, routine: Section, draft: Draft) -> list[Fault]:
    """Return a fault if a call has more or fewer arguments than the routine has parameters."""
    instruction = _single(caller.instructions, pending.index)
    if instruction.declaration.flow is not Flow.CALL:
        return []
    given, wanted = len(instruction.operands[1]), len(routine.parameters)
    if given == wanted:
        return []
    message = f"{routine.name} takes {wanted} argument{'s' * (wanted != 1)}, not {given}"
    place = pending.place or _place(pending.index, caller, draft)
    return [Fault(message, place, f"usage: CALL {', '.join((routine.name, *routine.parameters))}")]


def _open_loops(section: Section, draft: Draft) -> list[Fault]:
    """Return a fault for each LOOP without ENDL and each ENDL without LOOP."""
    faults, still_open = [], []
    for index, instruction in enumerate(section.instructions):
        if isinstance(instruction, Rounds):
            continue
        if instruction.declaration.flow is Flow.LOOP:
            still_open.append(index)
        elif instruction.declaration.flow is Flow.END_LOOP:
            if still_open:
                still_open.pop()
            else:
                faults.append((index, "ENDL without LOOP"))
    faults += [(index, "LOOP without ENDL") for index in still_open]
    return [Fault(message, _place(index, section, draft)) for index, message in faults]


def _routine(section: Section, addresses: list[int]) -> Routine:
    of = section.name, addresses[0], addresses[-1], section.parameters, section.scratch
    return Routine(*of, started=section.started, entire=section.entire, apart=section.apart)


def _labels(draft: Draft, addresses: dict[int, list[int]]) -> dict[str, int]:
    labels: dict[str, int] = {}
    routines = {section.name for section in draft.routines}
    for scope in draft.scopes:
        for name, label in scope.labels.items():
            if scope.prefix is not None and not (scope.parent is None and name in routines):
                labels[f"{scope.prefix}{name}"] = addresses[id(label.section)][label.index]
    return labels
