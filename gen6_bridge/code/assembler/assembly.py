"""Assembly: a source of statements and labels as words, with the lines that they came from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gen6_bridge.code.assembler.directives import carry_out
from gen6_bridge.code.assembler.operands import is_register
from gen6_bridge.code.assembler.statements import EuStatement, TargetLabel, read_statement
from gen6_bridge.code.assembler.symbols import Symbols
from gen6_bridge.code.assembler.tokens import EuToken, EuTokens, statements
from gen6_bridge.code.isa import INSTRUCTION_WORDS, EuInstruction
from gen6_bridge.code.isa.encoding.operands import ImmediateOperand, Targets
from gen6_bridge.code.isa.encoding.types import EuType
from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.isa.program import DataBlock, SourceLine

__all__ = ["Assembly", "assemble_text"]


@dataclass(frozen=True, slots=True)
class Assembly:
    """What a source means."""

    instructions: tuple[EuInstruction, ...]
    labels: dict[str, int]
    """Word addresses."""
    data: tuple[DataBlock, ...]
    """General registers before the first instruction, by byte."""
    lines: tuple[SourceLine, ...]
    line_of: tuple[int, ...]

    @property
    def words(self) -> tuple[int, ...]:
        """DW0 to DW3 of each instruction."""
        return tuple(word for instruction in self.instructions for word in instruction.encode())


def assemble_text(text: str, file: str) -> Assembly:
    """Assemble a source; raises InputError with every fault."""
    faults: list[Fault] = []
    found: list[tuple[EuStatement, EuToken]] = []
    labels: dict[str, tuple[int, EuToken]] = {}
    data: list[DataBlock] = []
    symbols = Symbols()
    for tokens in statements(text, file):
        first = tokens[0]
        try:
            if first.text == ".":
                carry_out(EuTokens(tokens), symbols, data)
            elif len(tokens) == 2 and tokens[1].text == ":":
                _label(first, len(found), labels)
            else:
                found.append((read_statement(EuTokens(tokens), symbols), first))
        except InputError as error:
            faults += error.faults
    known = {name: at for name, (at, _) in labels.items()}
    resolved: list[EuInstruction] = []
    for number, (statement, _) in enumerate(found):
        try:
            resolved.append(_resolved(statement, number, known))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    if not resolved:
        raise InputError(Fault("the source is empty: there is nothing to assemble", Place(file)))
    lines = [SourceLine(token.line.file, token.line.number, token.line.text) for _, token in found]
    once = tuple(dict.fromkeys(lines))
    place = {line: at for at, line in enumerate(once)}
    addresses = {name: at * INSTRUCTION_WORDS for name, at in known.items()}
    return Assembly(tuple(resolved), addresses, tuple(data), once, tuple(place[line] for line in lines))


def _label(token: EuToken, at: int, labels: dict[str, tuple[int, EuToken]]) -> None:
    if is_register(token.text):
        raise InputError(Fault(f"{token.text} is a register, no label", token.place))
    if token.text in labels:
        first = labels[token.text][1]
        raise InputError(Fault(f"{token.text} is defined twice, first in line {first.line.number}", token.place))
    labels[token.text] = (at, token)


def _resolved(statement: EuStatement, number: int, labels: dict[str, int]) -> EuInstruction:
    instruction = statement.instruction
    if not statement.labels:
        return instruction
    operands = list(instruction.operands)
    for label in statement.labels:
        units = _units(label, number, labels)
        for position, operand in enumerate(operands):
            if isinstance(operand, Targets):
                operands[position] = replace(operand, **{"uip" if label.position else "jip": units})
            elif isinstance(operand, ImmediateOperand) and instruction.declaration.mnemonic == "jmpi":
                # A jump counts from the instruction after it.
                operands[position] = ImmediateOperand(EuType.D, units - 2 & 0xFFFFFFFF)
    try:
        found = replace(instruction, operands=tuple(operands))
        found.encode()
    except ValueError as error:
        raise InputError(Fault(str(error), statement.labels[0].token.place)) from None
    return found


def _units(label: TargetLabel, number: int, labels: dict[str, int]) -> int:
    if label.name not in labels:
        near = nearest(label.name, labels)
        raise InputError(Fault(f"no label {label.name}", label.token.place, f"did you mean {near}?" if near else None))
    return 2 * (labels[label.name] - number)
