"""Places of a program as people write and read them: a line, a file and a line, a label, a routine, a word address."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.isa.declare import Instruction
from pixelflow.simd.isa.operands import OperandSpec, Target
from pixelflow.simd.isa.program import AssembledProgram

__all__ = ["Code", "find_code", "instruction_text", "place", "source_text"]

_FORMS = "forms: 12 (a line), file.mc:12, a label, a routine, *40 (a word address)"


_PYTHON = ".py"
"""Programs may be put together by calls, whose lines say less than the instructions that they make."""


@dataclass(frozen=True, slots=True)
class Code:
    """Instructions of a program, and what they were asked for as."""

    text: str
    indices: frozenset[int]
    """Positions in ``program.instructions``."""


def find_code(program: AssembledProgram, text: str) -> Code:
    """Return where a place is: the first instructions of a line, wherever it was put; raises InputError.

    A line without instructions stands for the next one that has some.
    """
    if text.startswith("*"):
        return Code(text, frozenset({_at_address(program, text)}))
    file, colon, line = text.rpartition(":")
    if line.isascii() and line.isdigit():
        return _at_line(program, text, file if colon else None, int(line[:9]))
    return Code(text, frozenset(_named(program, text)))


def _named(program: AssembledProgram, text: str) -> set[int]:
    """Return where a label or routine is; of a label inside a routine the last part of its name will do."""
    places = {routine.name: routine.entry for routine in program.routines} | dict(program.labels)
    found = {at for name, at in places.items() if name == text}
    found = found or {at for name, at in places.items() if name.rpartition(".")[2] == text}
    if not found:
        close = nearest(text, places)
        raise _refusal(f"the program has no label or routine {text!r}", f"did you mean {close}?" if close else _FORMS)
    if not found <= program.index_of.keys():
        raise _refusal(f"{text} is past the last instruction")
    return {program.index_of[at] for at in found}


def _at_address(program: AssembledProgram, text: str) -> int:
    digits = text[1:]
    address = int(digits[:9]) if digits.isascii() and digits.isdigit() else None
    if address is None:
        raise _refusal(f"{text!r} is not a word address", _FORMS)
    if address not in program.index_of:
        raise _refusal(f"word {address} is not the start of an instruction", f"words: 0 to {program.addresses[-1]}")
    return program.index_of[address]


def _at_line(program: AssembledProgram, text: str, file: str | None, wanted: int) -> Code:
    lines = [program.line_at(index) for index in range(len(program.instructions))]
    files = list(dict.fromkeys(line.file for line in lines if line is not None))
    if not files:
        raise _refusal("the program knows no source lines", "use a label, or *ADDRESS")
    chosen = files[0] if file is None else _file(files, file)
    numbers = sorted({line.line for line in lines if line is not None and line.file == chosen})
    found = next((number for number in numbers if number >= wanted), None)
    if found is None:
        raise _refusal(f"{chosen} has no instruction from line {wanted} on", f"the last one is on line {numbers[-1]}")
    firsts = set()
    before = None
    for index, line in enumerate(lines):
        at = line is not None and line.file == chosen and line.line == found
        if at and not before:
            firsts.add(index)
        before = at
    return Code(text if found == wanted else f"{text} (line {found})", frozenset(firsts))


def _file(files: list[str], asked: str) -> str:
    found = [each for each in files if each == asked] or [each for each in files if each.endswith("/" + asked)]
    if len(found) != 1:
        why = f"no instruction comes from {asked!r}" if not found else f"{asked!r} may be {' or '.join(found)}"
        raise _refusal(why, f"files: {', '.join(files)}")
    return found[0]


def _refusal(message: str, hint: str | None = None) -> InputError:
    return InputError(Fault(message, hint=hint))


def place(program: AssembledProgram, index: int) -> str:
    """Return file name and line of an instruction, without folders, or its word address."""
    source = program.line_at(index)
    return f"{PurePath(source.file).name}:{source.line}" if source else f"word {program.addresses[index]}"


def source_text(program: AssembledProgram, index: int) -> str:
    """Return the source line of an instruction, or the instruction where its source is unknown or no microcode."""
    source = program.line_at(index)
    if source is None or PurePath(source.file).suffix == _PYTHON:
        return instruction_text(program, program.instructions[index])
    return source.text.strip()


def instruction_text(program: AssembledProgram, instruction: Instruction) -> str:
    """Return an instruction as assembly text, with names for targets and stages."""
    names = {at: name for name, at in program.labels.items()}
    names |= {routine.entry: routine.name for routine in program.routines}

    def name(spec: OperandSpec, value: int) -> str:
        if isinstance(spec.kind, Target):
            return names.get(value, str(value))
        return f'"{program.names[value]}"' if value < len(program.names) else str(value)

    return instruction.text(name)
