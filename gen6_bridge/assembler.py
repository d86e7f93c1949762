"""Meaning: the public assembler's syntax, read into programs."""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from typing import NamedTuple

from gen6_bridge.assembler_operands import (
    SIZES,
    TYPES,
    DeclaredRegister,
    EuTokens,
    OperandRules,
    Symbols,
    is_register,
    read_destination,
    read_message,
    read_region,
    read_register,
    read_source,
    read_type,
    statements,
)
from gen6_bridge.isa.assembly_text import CONDITIONS, FUNCTIONS, PREDICATES, PREDICATES_16
from gen6_bridge.isa.declarations import INSTRUCTION_WORDS, INSTRUCTIONS, EuDeclaration, EuFamily, EuInstruction
from gen6_bridge.isa.encoding import (
    IMMEDIATE,
    ControlsKind,
    DestinationKind,
    JumpOffsetKind,
    MessageKind,
    SourceKind,
    TargetsKind,
    ThreeDestinationKind,
    ThreeSourceKind,
)
from gen6_bridge.isa.operands import (
    GRF_BYTES,
    MRF_REGISTERS,
    REGISTER_BYTES,
    Controls,
    EuDestination,
    EuMessage,
    EuType,
    File,
    ImmediateOperand,
    Operand,
    Source,
    SourceRegion,
    Targets,
)
from pixelflow.simd.errors import Fault, InputError, Place, nearest, suggestion
from pixelflow.simd.isa.encoding import EncodingError
from pixelflow.simd.isa.program import DataBlock, SourceLine
from pixelflow.simd.isa.scanner import SourceToken, origins

# Directives: names and defaults for later statements, and initial registers.


_IGNORED = ("kernel", "end_kernel", "code", "end_code", "reg_count_payload", "reg_count_total")
_DIRECTIVES = (*_IGNORED, "declare", "default_execution_size", "default_register_type", "data")
_DECLARED = "name Base=g10.0 ElementSize=4 SrcRegion=<8,8,1> DstRegion=<1> Type=F"
_FORMATS = dict(zip(TYPES, "IiHhBbf", strict=True))
"""Format of `struct` for each type of data."""


def read_directive(tokens: EuTokens, symbols: Symbols, data: list[DataBlock]) -> None:
    """Read a directive, which begins with its point; raises InputError."""
    tokens.take()
    token = tokens.take()
    match token.key:
        case "declare":
            _declare(tokens, symbols)
        case "default_execution_size":
            size = tokens.integer("a size")
            if size not in SIZES:
                raise tokens.fault(f"a size of {size} channels", "1, 2, 4, 8 or 16", token)
            symbols.size = size
        case "default_register_type":
            symbols.type = read_type(tokens, None)
        case "data":
            data.append(_data(tokens))
        case key if key in _IGNORED:
            return
        case _:
            near = nearest(token.text, _DIRECTIVES)
            hint = f"did you mean .{near}?" if near else ", ".join(f".{each}" for each in _DIRECTIVES)
            raise tokens.fault(f"unknown directive .{token.text}", hint, token)
    if tokens.here is not None:
        raise tokens.fault(f"{tokens.here.text} is one word too many for .{token.text}", None)


def _declare(tokens: EuTokens, symbols: Symbols) -> None:
    """Read a name for a register; ``SrcRegion`` and ``DstRegion`` may be left out."""
    token = tokens.take()
    if token.kind != "word" or is_register(token.text):
        raise tokens.fault(f"{token.text} is not a name for a register", _DECLARED, token)
    _value(tokens, "Base")
    base, _ = read_register(tokens, symbols)
    _value(tokens, "ElementSize")
    tokens.integer("the bytes of an element")
    region, stride = (0, 1, 0), 1
    if tokens.peek() == "srcregion":
        _value(tokens, "SrcRegion")
        region = read_region(tokens, indirect=False) or region
    if tokens.peek() == "dstregion":
        _value(tokens, "DstRegion")
        tokens.expect("<", "before a stride")
        stride = tokens.integer("a stride of 1, 2 or 4 elements")
        if stride not in (1, 2, 4):
            raise tokens.fault(f"a stride of {stride} elements", "1, 2 or 4")
        tokens.expect(">", "after a stride")
    _value(tokens, "Type")
    declared = DeclaredRegister(base, read_type(tokens, symbols.type), region, stride)
    if symbols.registers.setdefault(token.text, declared) != declared:
        raise tokens.fault(f"{token.text} is declared already, as something else", None, token)


def _value(tokens: EuTokens, name: str) -> None:
    if not tokens.accept(name.lower(), "="):
        raise tokens.fault(f"expected {name}=", f".declare {_DECLARED}")


def _data(tokens: EuTokens) -> DataBlock:
    """Read ``.data g10.2 F 1.0, -2.5``, initial registers: not a directive of the public assembler."""
    token = tokens.take()
    register = token.text[1:]
    if token.key[:1] not in ("g", "r") or not register.isdigit() or int(register) * REGISTER_BYTES >= GRF_BYTES:
        raise tokens.fault("data go to a general register", ".data g10 F 1.0, 2.0", token)
    element = tokens.integer("an element") if tokens.accept(".") else 0
    kind = tokens.take()
    if kind.key.upper() not in TYPES:
        hint = suggestion(kind.text, TYPES, "UD, D, UW, W, UB, B or F")
        raise tokens.fault(f"{kind.text} is not a type of data", hint, kind)
    type_ = EuType[kind.key.upper()]
    values: list[int] = []
    while True:
        minus = tokens.accept("-")
        number = tokens.take()
        values += _packed(tokens, type_, number, minus=minus)
        if not tokens.accept(","):
            break
    start = int(register) * REGISTER_BYTES + element * type_.size
    if not 0 <= start <= start + len(values) <= GRF_BYTES:
        raise tokens.fault("data leave the general registers", f"{GRF_BYTES} bytes", token)
    return DataBlock(start, tuple(values))


def _packed(tokens: EuTokens, type_: EuType, number: SourceToken, *, minus: bool) -> bytes:
    """Return a number's bytes; bits of a float may be written in hex."""
    form, text = _FORMATS[type_.name], number.text
    try:
        if number.key.startswith("0x"):
            value: float = int(text, 16)
            form = "I" if type_ is EuType.F else form
        else:
            value = float(text) if type_ is EuType.F else int(text, 10)
        return struct.pack("<" + form, -value if minus else value)
    except (ValueError, OverflowError, struct.error):
        raise tokens.fault(f"{'-' * minus}{text} is not a {type_.name}", None, number) from None


# Statements: predicate, mnemonic with saturation and condition, size, operands, options, as an instruction.


_CONDITIONS = {name: code for code, name in enumerate(CONDITIONS) if name} | {"z": 1, "nz": 2}
_FUNCTIONS = {name: code for code, name in FUNCTIONS.items()} | {"fdiv": 9}
_OPTIONS = {
    "align1": {"align16": 0}, "align16": {"align16": 1}, "mask_disable": {"all_channels": 1},
    "nomask": {"all_channels": 1}, "sechalf": {"quarter": 1}, "compr": {}, "switch": {"thread": 2},
    "atomic": {"thread": 1}, "noddclr": {"dependency": 1}, "noddchk": {"dependency": 2},
    "breakpoint": {"breakpoint": 1}, "accwrctrl": {"accumulates": 1}, "eot": {},
}  # fmt: skip
_SET = {"send": 7 << 42, "sendc": 7 << 42, "halt": 1 << 61}
"""Bits set as by the public assembler: a descriptor is an immediate of type D, a missing destination has a stride."""
_UNSIGNED_DESCRIPTOR = 3 << 42
_ALIASES = {"msave": "call", "mrest": "ret"}
_NULL = SourceRegion(File.ARCHITECTURE, EuType.UD)
_SINGLE = ("nop", "wait", "jmpi")
"""Instructions that always have size 1."""
_SCALAR = ("mul", "mac", "cmp", "asr", "add", "shl")
"""Instructions whose sources without a region are one element for all channels."""
_IP, _NOTIFICATION = 0xA0, 0x90
_PAIR = SourceRegion(File.ARCHITECTURE, EuType.D, 0, 0, 2, 2, 1)


class TargetLabel(NamedTuple):
    """Label named by a branch: the position of the target, and its token."""

    name: str
    position: int
    token: SourceToken


class EuStatement(NamedTuple):
    """Instruction with labels still to resolve."""

    instruction: EuInstruction
    labels: tuple[TargetLabel, ...]


def read_statement(tokens: EuTokens, symbols: Symbols) -> EuStatement:
    """Read an instruction; raises InputError."""
    start = tokens.here
    controls = _predicate(tokens)
    token = tokens.take()
    mnemonic = _ALIASES.get(token.key, token.key)
    declaration = INSTRUCTIONS.get(mnemonic)
    if declaration is None:
        hint = suggestion(token.text, INSTRUCTIONS, "pixelflow isa --machine gen6 lists all")
        raise tokens.fault(f"unknown instruction {token.text}", hint, token)
    controls = _suffixes(tokens, controls)
    controls = _size(tokens, controls, symbols.size)
    if mnemonic in _SINGLE:
        controls = replace(controls, size_code=0)
    controls, ends = _options(tokens, controls)
    three = declaration.three
    rules = OperandRules(symbols, controls.size, bool(controls.align16) or three, mnemonic in _SCALAR)
    operands, labels, selector = _operands(tokens, declaration, rules)
    if selector is not None:
        if controls.selector:
            raise tokens.fault(f"{mnemonic} has no condition: its function or target is encoded there", None, token)
        controls = replace(controls, selector=selector)
    if declaration.mnemonic == "jmpi":
        controls = replace(controls, all_channels=1)
    if tokens.here is not None and tokens.peek() != "{":
        raise tokens.fault(f"{tokens.peek()} is one operand too many", declaration.synopsis)
    if ends:
        last = operands[-1]
        if not isinstance(last, EuMessage):
            raise tokens.fault("EOT ends a thread with a message", "it belongs to send", start)
        operands[-1] = replace(last, end=1)
    rest = _SET.get(mnemonic, 0)
    if rest and tokens.said_unsigned:
        rest = _UNSIGNED_DESCRIPTOR
    instruction = EuInstruction(declaration, (controls, *operands), rest=rest | tokens.unread_bits << IMMEDIATE.low)
    try:
        instruction.encode()
    except (EncodingError, ValueError) as error:
        raise tokens.fault(str(error), declaration.synopsis, start) from None
    return EuStatement(instruction, tuple(labels))


def _predicate(tokens: EuTokens) -> Controls:
    if not (tokens.peek() == "(" and tokens.peek(1) in ("+", "-")):
        if tokens.peek() == "(" and tokens.peek(1) == "f0":
            tokens.take()
            return _flag(tokens, 0)
        return Controls()
    tokens.take()
    return _flag(tokens, int(tokens.take().text == "-"))


def _flag(tokens: EuTokens, inverse: int) -> Controls:
    token = tokens.take()
    if token.key != "f0":
        raise tokens.fault(f"a predicate is f0.0 or f0.1, not {token.text}", None, token)
    flag, code, channels = 0, 1, False
    while tokens.accept("."):
        here = tokens.take()
        if here.text in ("0", "1"):
            flag = int(here.text)
        elif here.key in PREDICATES:
            code = PREDICATES.index(here.key)
        elif here.key in PREDICATES_16:
            code = PREDICATES_16.index(here.key)
            channels = True
        else:
            hint = suggestion(here.text, [*filter(None, PREDICATES)])
            raise tokens.fault(f"{here.text} is not a predicate", hint, here)
    tokens.expect(")", "after a predicate")
    if channels and not tokens.option("align16"):
        raise tokens.fault("the predicates x, y, z and w belong to 16-byte mode", "add align16 to the options", token)
    return Controls(predicate=code, inverse=inverse, flag=flag)


def _suffixes(tokens: EuTokens, controls: Controls) -> Controls:
    while tokens.accept("."):
        token = tokens.take()
        if token.key == "sat":
            controls = replace(controls, saturates=1)
        elif token.key in _CONDITIONS:
            controls = replace(controls, selector=_CONDITIONS[token.key])
            if tokens.peek() == "." and re.fullmatch("f0", tokens.peek(1)):
                tokens.take()
                tokens.take()
                if tokens.accept("."):
                    flag = tokens.integer("a flag word")
                    if controls.predicate and flag != controls.flag:
                        raise tokens.fault("predicate and condition use one flag word", None, token)
                    if flag not in (0, 1):
                        raise tokens.fault(f"there is no f0.{flag}", "f0.0 and f0.1", token)
                    controls = replace(controls, flag=flag)
        else:
            hint = suggestion(token.text, _CONDITIONS, "sat, " + ", ".join(_CONDITIONS))
            raise tokens.fault(f"{token.text} is not a condition", hint, token)
    return controls


def _size(tokens: EuTokens, controls: Controls, default: int) -> Controls:
    size = default
    if tokens.accept("("):
        token = tokens.here
        size = tokens.integer("a size")
        if size not in SIZES:
            raise tokens.fault(f"a size of {size} channels", "1, 2, 4, 8 or 16", token)
        tokens.expect(")", "after the size")
    return replace(controls, size_code=size.bit_length() - 1)


def _options(tokens: EuTokens, controls: Controls) -> tuple[Controls, bool]:
    """Read the options at the end of the statement, on which the operands before them depend."""
    ahead, ends = 0, False
    while tokens.peek(ahead) not in ("{", ""):
        ahead += 1
    if not tokens.peek(ahead):
        return controls, ends
    ahead += 1
    while tokens.peek(ahead) != "}":
        word = tokens.peek(ahead)
        if word == ",":
            ahead += 1
            continue
        if word not in _OPTIONS:
            near = nearest(word, _OPTIONS) if word else None
            hint = f"did you mean {near}?" if near else ", ".join(_OPTIONS)
            raise tokens.fault(f"{word or 'the end'} is not an option", hint)
        if "dependency" in _OPTIONS[word]:
            controls = replace(controls, dependency=controls.dependency | _OPTIONS[word]["dependency"])
        elif controls.thread and "thread" in _OPTIONS[word]:
            raise tokens.fault("switch and atomic exclude each other", "write one of them")
        else:
            controls = replace(controls, **_OPTIONS[word])
        ends = ends or word == "eot"
        ahead += 1
    if tokens.peek(ahead + 1):
        raise tokens.fault(f"{tokens.peek(ahead + 1)} after the options", "an instruction ends with its options")
    return controls, ends


def _operands(
    tokens: EuTokens, declaration: EuDeclaration, rules: OperandRules
) -> tuple[list[Operand], list[TargetLabel], int | None]:
    match declaration.mnemonic:
        case "jmpi":
            offset, labels = _offset(tokens, rules)
            ip = EuDestination(File.ARCHITECTURE, EuType.UD, _IP)
            return [ip, SourceRegion(File.ARCHITECTURE, EuType.UD, _IP), offset], labels, None
        case "call":
            dst = replace(read_destination(tokens, rules), type=EuType.D)
            targets, labels = _targets(tokens, 1)
            return [dst, _PAIR, targets], labels, None
        case "wait":
            register, _ = read_register(tokens, rules.symbols)
            if register.file is not File.ARCHITECTURE or register.number & 0xF0 != _NOTIFICATION:
                raise tokens.fault("expected a notification register", "n0")
            sub = register.sub * EuType.D.size
            notified = SourceRegion(File.ARCHITECTURE, EuType.D, register.number, sub)
            return [EuDestination(File.ARCHITECTURE, EuType.D, register.number, sub), notified], [], None
    operands: list[Operand] = []
    labels, selector = [], None
    for spec in declaration.operands[1:]:
        match spec.kind:
            case TargetsKind() as kind:
                targets, labels = _targets(tokens, kind.count)
                operands.append(targets)
            case DestinationKind() | ThreeDestinationKind():
                if declaration.shape.form == "send":
                    message = _send(tokens, rules)
                    return [*message[:2], message[2]], [], message[3]
                operands.append(read_destination(tokens, rules))
            case MessageKind() | ControlsKind():
                raise AssertionError(spec.name)
            case SourceKind() | ThreeSourceKind():
                alone = declaration.family is EuFamily.FLOW and tokens.peek() in ("", "{")
                if alone or _missing_second(tokens, declaration, operands):
                    operands.append(_NULL)
                else:
                    source = read_source(tokens, rules)
                    three = declaration.three and isinstance(source, SourceRegion)
                    operands.append(_replicated(tokens, source) if three else source)
            case JumpOffsetKind():
                raise AssertionError(spec.name)
    if declaration.mnemonic == "ret" and isinstance(operands[-1], SourceRegion):
        pair = replace(operands[-1], type=EuType.D, vertical=2, width=2, horizontal=1)
        operands = [EuDestination(File.ARCHITECTURE, EuType.UD), pair]
    if declaration.shape.form == "math":
        token = tokens.take()
        selector = _FUNCTIONS.get(token.key)
        if selector is None:
            hint = suggestion(token.text, _FUNCTIONS, ", ".join(_FUNCTIONS))
            raise tokens.fault(f"{token.text} is not a function of math", hint, token)
    return operands, labels, selector


def _replicated(tokens: EuTokens, source: Source) -> Source:
    """Return one of three sources; without a vertical stride it is the one element that the swizzle selects."""
    if not isinstance(source, SourceRegion) or source.vertical:
        return source
    first = source.swizzle[0] if source.swizzle is not None and len(set(source.swizzle)) == 1 else 0
    sub = source.sub + first * source.type.size
    if sub >= REGISTER_BYTES:
        raise tokens.fault(f"element {sub // source.type.size} is past the register", None)
    return replace(source, vertical=4, sub=sub, replicate=1)


def _missing_second(tokens: EuTokens, declaration: EuDeclaration, operands: list[Operand]) -> bool:
    """Return whether the function of `math` follows its first source."""
    return declaration.shape.form == "math" and len(operands) == 2 and tokens.peek() in _FUNCTIONS


def _send(tokens: EuTokens, rules: OperandRules) -> tuple[EuDestination, SourceRegion, Operand, int]:
    """Read a send: the first message register, the destination, a null payload, target and lengths.

    Also the newer order: destination, message register, number of the target, descriptor.
    """
    token = tokens.here
    number = tokens.integer("a message register") if tokens.begins_number() else None
    dst = read_destination(tokens, rules)
    if number is None:
        token = tokens.here
        register, _ = read_register(tokens, rules.symbols)
        if register.file is not File.MESSAGE or register.address is not None:
            raise tokens.fault("expected the first message register", "m0 to m23", token)
        number = register.number
    elif not tokens.accept("null"):
        # Earlier generations copied it to the first message register.
        source = read_source(tokens, rules)
        if not (isinstance(source, SourceRegion) and source.null):
            raise tokens.fault("the payload is in message registers on this generation", "write null", token)
    if not 0 <= number < MRF_REGISTERS:
        raise tokens.fault(f"there is no m{number}", f"m0 to m{MRF_REGISTERS - 1}", token)
    target, message = read_message(tokens)
    return dst, SourceRegion(File.MESSAGE, EuType.D, number), message, target


def _offset(tokens: EuTokens, rules: OperandRules) -> tuple[SourceRegion | ImmediateOperand, list[TargetLabel]]:
    token = tokens.here
    indexed = token is not None and token.text in rules.symbols.registers and tokens.peek(1) == "("
    if token is not None and token.kind == "word" and not is_register(token.text) and not indexed:
        tokens.take()
        return ImmediateOperand(EuType.D, 0), [TargetLabel(token.text, 0, token)]
    if tokens.begins_number():
        # Counted from the jump itself; the machine counts from the next instruction.
        units = 2 * tokens.integer("a number of instructions") - 2
        return ImmediateOperand(EuType.D, units & 0xFFFFFFFF), []
    return read_source(tokens, rules), []


def _targets(tokens: EuTokens, count: int) -> tuple[Targets, list[TargetLabel]]:
    labels: list[TargetLabel] = []
    units: list[int] = []
    for position in range(count):
        token = tokens.here
        if token is not None and token.kind == "word" and not is_register(token.text):
            tokens.take()
            labels.append(TargetLabel(token.text, position, token))
            units.append(0)
        else:
            units.append(2 * _distance(tokens))
    return Targets(units[0], units[1] if count == 2 else None), labels


def _distance(tokens: EuTokens) -> int:
    """Take one number with its sign, not an expression: the second target may follow."""
    minus = tokens.accept("-")
    token = tokens.here
    if token is None or token.kind != "number" or "." in token.text:
        raise tokens.fault("expected a label, or a number of instructions", None)
    tokens.take()
    number = int(token.text, 16 if token.key.startswith("0x") else 10)
    return -number if minus else number


# Assembly: a source of statements and labels as words, with their source lines.


class Assembly(NamedTuple):
    """Assembled source."""

    instructions: tuple[EuInstruction, ...]
    labels: dict[str, int]
    """Word addresses."""
    data: tuple[DataBlock, ...]
    """Initial general registers, by byte."""
    lines: tuple[SourceLine, ...]
    line_of: tuple[int, ...]

    @property
    def words(self) -> tuple[int, ...]:
        """DW0 to DW3 of each instruction."""
        return tuple(word for instruction in self.instructions for word in instruction.encode())


def assemble_text(text: str, file: str) -> Assembly:
    """Assemble a source; raises InputError with every fault."""
    faults: list[Fault] = []
    read: list[tuple[EuStatement, SourceToken]] = []
    labels: dict[str, tuple[int, SourceToken]] = {}
    data: list[DataBlock] = []
    symbols = Symbols()
    for tokens in statements(text, file):
        first = tokens[0]
        try:
            if first.text == ".":
                read_directive(EuTokens(tokens), symbols, data)
            elif len(tokens) == 2 and tokens[1].text == ":":
                _label(first, len(read), labels)
            else:
                read.append((read_statement(EuTokens(tokens), symbols), first))
        except InputError as error:
            faults += error.faults
    known = {name: at for name, (at, _) in labels.items()}
    resolved: list[EuInstruction] = []
    for number, (statement, _) in enumerate(read):
        try:
            resolved.append(_resolved(statement, number, known))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    if not resolved:
        raise InputError(Fault("the source is empty: there is nothing to assemble", Place(file)))
    addresses = {name: at * INSTRUCTION_WORDS for name, at in known.items()}
    return Assembly(tuple(resolved), addresses, tuple(data), *origins(token for _, token in read))


def _label(token: SourceToken, at: int, labels: dict[str, tuple[int, SourceToken]]) -> None:
    if is_register(token.text):
        raise InputError(Fault(f"{token.text} is a register, not a label", token.place))
    if token.text in labels:
        first = labels[token.text][1]
        raise InputError(Fault(f"{token.text} is defined twice, first in line {first.line.line}", token.place))
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
                # A jump counts from the next instruction.
                operands[position] = ImmediateOperand(EuType.D, units - 2 & 0xFFFFFFFF)
    try:
        resolved = replace(instruction, operands=tuple(operands))
        resolved.encode()
    except ValueError as error:
        raise InputError(Fault(str(error), statement.labels[0].token.place)) from None
    return resolved


def _units(label: TargetLabel, number: int, labels: dict[str, int]) -> int:
    if label.name not in labels:
        raise InputError(Fault(f"no label {label.name}", label.token.place, suggestion(label.name, labels)))
    return 2 * (labels[label.name] - number)
