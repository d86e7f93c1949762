"""From a program back to `.mc` text that assembles to the same words, entries, labels and data."""

from __future__ import annotations

from collections.abc import Iterator

from pixelflow.simd.isa.declare import Flow, Instruction
from pixelflow.simd.isa.operands import Imm, Mem, Name, Operand, OperandSpec, Target
from pixelflow.simd.isa.program import AssembledProgram, Routine, quoted
from pixelflow.simd.isa.target import ProgramTarget
from pixelflow.simd.report import counted

_INDENT = "    "


def disassemble(program: AssembledProgram, target: ProgramTarget[AssembledProgram] | None = None) -> str:
    """Return the text of a program, with its names; unnamed targets get labels.

    ``target`` is needed for machines with a separate source language.
    """
    if target is not None and target.language is not None:
        return target.language.text(program)
    return "\n".join(_Disassembly(program).lines()) + "\n"


class _Disassembly:
    """The names and section boundaries of one program."""

    def __init__(self, program: AssembledProgram) -> None:
        self.program = program
        self.routines = {routine.entry: routine for routine in program.routines}
        self.streams = {at: stream for stream, at in program.entries.items()}
        self.labels = self._labels()

    def _labels(self) -> dict[int, list[str]]:
        """Return the labels of each word address."""
        labels: dict[int, list[str]] = {}
        for name, at in self.program.labels.items():
            labels.setdefault(at, []).append(name.rpartition(".")[2])
        used = {name for names in labels.values() for name in names}
        for instruction in self.program.instructions:
            for spec, operand in zip(instruction.declaration.operands, instruction.operands, strict=True):
                if isinstance(spec.kind, Target) and operand not in self.routines and operand not in labels:
                    name = f"L{operand}"
                    while name in used:
                        name += "_"
                    used.add(name)
                    labels[operand] = [name]
        return labels

    def lines(self) -> Iterator[str]:
        program = self.program
        size = f"{counted(len(program.instructions), 'instruction')}, {counted(len(program.words), 'word')}"
        yield f"; {program.name or 'program'}: {size}"
        yield from self._memory()
        routine: Routine | None = None
        depth = 0
        for index, (at, instruction) in enumerate(zip(program.addresses, program.instructions, strict=True)):
            if routine is not None and at >= routine.end:
                routine = None
            if at in self.streams and (self.streams[at] != program.stream or at != 0):
                yield f"stream {self.streams[at]}"
            if at in self.routines:
                routine = self.routines[at]
                yield from ("", self._header(routine))
            yield from (f"{label}:" for label in self.labels.get(at, ()))
            if instruction.declaration.flow is Flow.END_LOOP:
                depth = max(0, depth - 1)
            last = index + 1 == len(program.instructions) or (routine and program.addresses[index + 1] >= routine.end)
            if not (routine and (last or (at == routine.entry and routine.started))):
                yield _INDENT * (1 + depth) + self._text(instruction, routine)
            elif last:
                yield "end"
            if instruction.declaration.flow is Flow.LOOP:
                depth += 1
        end = len(program.words)
        yield from (f"{label}:" for label in self.labels.get(end, ()))

    def _memory(self) -> Iterator[str]:
        """Yield needs, ranges and data."""
        yield from (f"needs {need.text}" for need in self.program.needs)
        reached = 0
        for item in self.program.ranges:
            word = "range" if item.start >= reached else "overlay"
            if word == "range":
                reached = item.start + item.size
            yield f"{word} {item.name}[{item.size}] at {item.start}" + (f": {item.declared}" if item.declared else "")
        for block in self.program.data:
            if block.lanes:
                yield f"data [{block.start}]: lane {block.lanes}"
            else:
                yield f"data [{block.start}]: byte {', '.join(str(value) for value in block.values)}"

    def _header(self, routine: Routine) -> str:
        uses = ", ".join(f"{start}, {size}" for start, size in routine.scratch)
        word = "routine" if routine.started else "proc"
        head = f"{word} {routine.name}({', '.join(routine.parameters)})"
        clauses = (("whole", ", ".join(routine.entire)), ("apart", ", ".join(routine.apart)), ("uses", uses))
        return head + "".join(f" {word} {what}" for word, what in clauses if what)

    def _text(self, instruction: Instruction, routine: Routine | None) -> str:
        shown: list[str] = []
        for spec, operand in zip(instruction.declaration.operands, instruction.operands, strict=True):
            if spec.optional and operand is instruction.operands[0]:
                continue
            if spec.kind.most is not None:
                shown += [self._argument(argument, routine) for argument in operand]
            else:
                shown.append(self._operand(spec, operand, routine))
        return f"{instruction.mnemonic} {', '.join(shown)}".rstrip()

    def _operand(self, spec: OperandSpec, operand: Operand, routine: Routine | None) -> str:
        match spec.kind, operand:
            case _, Mem():
                return self._byte(operand, routine)
            case _, Imm(value, None):
                return f"#{value}"
            case _, Imm(value, int(base)):
                name = _parameter(base, routine)
                return f"#{name} {'-' if value < 0 else '+'} {abs(value)}" if value else f"#{name}"
            case Target(), _:
                return self.routines[operand].name if operand in self.routines else self.labels[operand][0]
            case Name(), _:
                return quoted(self.program.names[operand] if operand < len(self.program.names) else str(operand))
        return spec.kind.text_within(operand, routine.parameters if routine else ())

    def _argument(self, argument: Mem, routine: Routine | None) -> str:
        if argument.base is None and argument.offset < 0:
            return f"#{argument.offset}"
        return self._byte(argument, routine)

    def _byte(self, place: Mem, routine: Routine | None) -> str:
        hidden = routine.parameters if routine else ()
        if place.base is not None:
            name = _parameter(place.base, routine)
            if place.base >= len(hidden):
                return f"[{name}{place.offset:+d}]" if place.offset else f"[{name}]"
            if place.offset < 0:
                return f"[{name} - {-place.offset}]"
            return f"{name}[{place.offset}]" if place.offset else name
        for item in self.program.ranges:
            if item.start <= place.offset < item.start + item.size and item.name not in hidden:
                index = place.offset - item.start
                return f"{item.name}[{index}]" if index else item.name
        return f"[{place.offset}]"


def _parameter(base: int, routine: Routine | None) -> str:
    if routine is not None and base < len(routine.parameters):
        return routine.parameters[base]
    return f"P{base}"
