"""Statements: predicate, mnemonic with saturation and condition, size, operands, options, as an instruction."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gen6_bridge.code.assembler.messages import read_message
from gen6_bridge.code.assembler.operands import is_register, read_destination, read_source
from gen6_bridge.code.assembler.tokens import EuToken, EuTokens
from gen6_bridge.code.isa import INSTRUCTIONS, EuDeclaration, EuFamily, EuInstruction
from gen6_bridge.code.isa.encoding.kinds import (
    ControlsKind,
    DestinationKind,
    JumpOffsetKind,
    MessageKind,
    SourceKind,
    TargetsKind,
    ThreeDestinationKind,
    ThreeSourceKind,
)
from gen6_bridge.code.isa.encoding.operands import (
    Controls,
    EuDestination,
    EuMessage,
    File,
    ImmediateOperand,
    Operand,
    SourceRegion,
    Targets,
)
from gen6_bridge.code.isa.encoding.text import CONDITIONS, FUNCTIONS, PREDICATES, PREDICATES_16
from gen6_bridge.code.isa.encoding.types import EuType
from pixelflow.simd.errors import nearest
from pixelflow.simd.isa.encoding import EncodingError

__all__ = ["EuStatement", "TargetLabel", "read_statement"]

_CONDITIONS = {name: code for code, name in enumerate(CONDITIONS) if name} | {"z": 1, "nz": 2}
_FUNCTIONS = {name: code for code, name in FUNCTIONS.items()} | {"fdiv": 9}
_OPTIONS = {
    "align1": {"align16": 0}, "align16": {"align16": 1}, "mask_disable": {"all_channels": 1},
    "nomask": {"all_channels": 1}, "sechalf": {"quarter": 1}, "compr": {}, "switch": {"thread": 2},
    "atomic": {"thread": 1}, "noddclr": {"dependency": 1}, "noddchk": {"dependency": 2},
    "breakpoint": {"breakpoint": 1}, "accwrctrl": {"accumulates": 1}, "EOT": {},
}  # fmt: skip
_SET = {"send": 7 << 42, "sendc": 7 << 42, "halt": 1 << 61}
"""Bits that the public assembler sets unasked: the descriptor's type, the stride of no destination."""
_ALIASES = {"msave": "call", "mrest": "ret"}
_NULL = SourceRegion(File.ARCHITECTURE, EuType.UD)
_SINGLE = ("nop", "wait")
"""Instructions without a size."""
_IP = 0xA0
_PAIR = SourceRegion(File.ARCHITECTURE, EuType.D, 0, 0, 2, 2, 1)


@dataclass(frozen=True, slots=True)
class TargetLabel:
    """A label that a branch names: which target of it, and where it is written."""

    name: str
    position: int
    token: EuToken


@dataclass(frozen=True, slots=True)
class EuStatement:
    """An instruction whose labels are not known yet."""

    instruction: EuInstruction
    labels: tuple[TargetLabel, ...]


def read_statement(tokens: EuTokens, default_size: int) -> EuStatement:
    """Read an instruction; raises InputError."""
    start = tokens.here
    controls = _predicate(tokens)
    token = tokens.take()
    mnemonic = _ALIASES.get(token.text, token.text)
    declaration = INSTRUCTIONS.get(mnemonic)
    if declaration is None:
        near = nearest(token.text, INSTRUCTIONS)
        hint = f"did you mean {near}?" if near else "pixelflow isa --machine gen6 lists all"
        raise tokens.fault(f"unknown instruction {token.text}", hint, token)
    controls = _suffixes(tokens, controls)
    controls = _size(tokens, controls, 1 if mnemonic in _SINGLE else default_size)
    options, ends = _options(tokens, controls)
    controls = replace(options, align16=options.align16)
    operands, labels, selector = _operands(tokens, declaration, controls)
    if selector is not None:
        if controls.selector:
            raise tokens.fault(f"{mnemonic} has no condition: its function or target stands there", None, token)
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
    found = EuInstruction(declaration, (controls, *operands), rest=_SET.get(mnemonic, 0))
    try:
        found.encode()
    except (EncodingError, ValueError) as error:
        raise tokens.fault(str(error), declaration.synopsis, start) from None
    return EuStatement(found, tuple(labels))


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
    if token.text != "f0":
        raise tokens.fault(f"a predicate is f0.0 or f0.1, not {token.text}", None, token)
    flag, code, align16 = 0, 1, 0
    while tokens.accept("."):
        here = tokens.take()
        if here.text in ("0", "1"):
            flag = int(here.text)
        elif here.text in PREDICATES:
            code = PREDICATES.index(here.text)
        elif here.text in PREDICATES_16:
            code, align16 = PREDICATES_16.index(here.text), 1
        else:
            near = nearest(here.text, [*filter(None, PREDICATES)])
            raise tokens.fault(f"{here.text} is no predicate", f"did you mean {near}?" if near else None, here)
    tokens.expect(")", "after a predicate")
    return Controls(predicate=code, inverse=inverse, flag=flag, align16=align16)


def _suffixes(tokens: EuTokens, controls: Controls) -> Controls:
    while tokens.accept("."):
        token = tokens.take()
        if token.text == "sat":
            controls = replace(controls, saturates=1)
        elif token.text in _CONDITIONS:
            controls = replace(controls, selector=_CONDITIONS[token.text])
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
            near = nearest(token.text, _CONDITIONS)
            hint = f"did you mean {near}?" if near else "sat, " + ", ".join(_CONDITIONS)
            raise tokens.fault(f"{token.text} is no condition", hint, token)
    return controls


def _size(tokens: EuTokens, controls: Controls, default: int) -> Controls:
    size = default
    if tokens.accept("("):
        token = tokens.here
        size = tokens.integer("a size")
        if size not in (1, 2, 4, 8, 16, 32):
            raise tokens.fault(f"a size of {size} channels", "1, 2, 4, 8 or 16", token)
        tokens.expect(")", "after the size")
    return replace(controls, size_code=size.bit_length() - 1)


def _options(tokens: EuTokens, controls: Controls) -> tuple[Controls, bool]:
    """Read the options at the end of the statement, which say how operands before them are read."""
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
            raise tokens.fault(
                f"{word or 'the end'} is no option", f"did you mean {near}?" if near else ", ".join(_OPTIONS)
            )
        if "dependency" in _OPTIONS[word]:
            controls = replace(controls, dependency=controls.dependency | _OPTIONS[word]["dependency"])
        else:
            controls = replace(controls, **_OPTIONS[word])
        ends = ends or word == "EOT"
        ahead += 1
    if tokens.peek(ahead + 1):
        raise tokens.fault(f"{tokens.peek(ahead + 1)} after the options", "an instruction ends with its options")
    return controls, ends


def _operands(
    tokens: EuTokens, declaration: EuDeclaration, controls: Controls
) -> tuple[list[Operand], list[TargetLabel], int | None]:
    wide, size = bool(controls.align16), controls.size
    match declaration.mnemonic:
        case "jmpi":
            offset, labels = _offset(tokens, size)
            ip = EuDestination(File.ARCHITECTURE, EuType.UD, _IP)
            return [ip, SourceRegion(File.ARCHITECTURE, EuType.UD, _IP), offset], labels, None
        case "call":
            dst = read_destination(tokens, wide=wide, size=size)
            targets, labels = _targets(tokens, 1)
            return [dst, _PAIR, targets], labels, None
        case "wait":
            source = read_source(tokens, wide=wide, size=1)
            if not isinstance(source, SourceRegion):
                raise tokens.fault("expected a notification register", "n0.0")
            source = replace(source, type=EuType.D)
            return [EuDestination(File.ARCHITECTURE, EuType.D, source.number, source.sub), source], [], None
    operands: list[Operand] = []
    labels, selector = [], None
    for spec in declaration.operands[1:]:
        match spec.kind:
            case TargetsKind() as kind:
                targets, labels = _targets(tokens, kind.count)
                operands.append(targets)
            case DestinationKind() | ThreeDestinationKind():
                if declaration.shape.form == "send":
                    found = _send(tokens, size)
                    return [*found[:2], found[2]], [], found[3]
                operands.append(read_destination(tokens, wide=wide or declaration.shape.form == "three", size=size))
            case MessageKind() | ControlsKind():
                raise AssertionError(spec.name)
            case SourceKind() | ThreeSourceKind():
                alone = declaration.family is EuFamily.FLOW and tokens.peek() in ("", "{")
                if alone or _missing_second(tokens, declaration, operands):
                    operands.append(_NULL)
                else:
                    operands.append(read_source(tokens, wide=wide or declaration.shape.form == "three", size=size))
            case JumpOffsetKind():
                raise AssertionError(spec.name)
    if declaration.shape.form == "math":
        token = tokens.take()
        selector = _FUNCTIONS.get(token.text)
        if selector is None:
            near = nearest(token.text, _FUNCTIONS)
            hint = f"did you mean {near}?" if near else ", ".join(_FUNCTIONS)
            raise tokens.fault(f"{token.text} is no function of math", hint, token)
    return operands, labels, selector


def _missing_second(tokens: EuTokens, declaration: EuDeclaration, operands: list[Operand]) -> bool:
    """Return whether `math` goes on with its function in place of a second source."""
    return declaration.shape.form == "math" and len(operands) == 2 and tokens.peek() in _FUNCTIONS


def _send(tokens: EuTokens, size: int) -> tuple[EuDestination, SourceRegion, Operand, int]:
    """Read a send: the first message register, the destination, an implied payload that is null, target and lengths.

    Also the newer order: destination, message register, number of the target, descriptor.
    """
    token = tokens.here
    number: int | None = None
    if token is not None and token.kind == "number":
        number = tokens.integer("a message register")
    dst = read_destination(tokens, wide=False, size=size)
    if number is None:
        payload = tokens.take()
        found = re.fullmatch(r"m(\d+)", payload.text)
        if found is None:
            raise tokens.fault(f"expected the first message register, not {payload.text}", "m0 to m23", payload)
        number = int(found[1])
    elif not tokens.accept("null"):
        source = read_source(tokens, wide=False, size=size)
        if not (isinstance(source, SourceRegion) and source.null):
            raise tokens.fault("the payload is in message registers on this generation", "write null", token)
    if not 0 <= number < 24:
        raise tokens.fault(f"there is no m{number}", "m0 to m23", token)
    target, message = read_message(tokens)
    return dst, SourceRegion(File.MESSAGE, EuType.D, number), message, target


def _offset(tokens: EuTokens, size: int) -> tuple[SourceRegion | ImmediateOperand, list[TargetLabel]]:
    token = tokens.here
    if token is not None and token.kind == "word" and not is_register(token.text):
        tokens.take()
        return ImmediateOperand(EuType.D, 0), [TargetLabel(token.text, 0, token)]
    if tokens.peek() == "-" or (token is not None and token.kind == "number"):
        # From the jump itself, while the machine counts from the instruction after it.
        units = 2 * tokens.integer("a number of instructions") - 2
        return ImmediateOperand(EuType.D, units & 0xFFFFFFFF), []
    return _register_offset(tokens), []


def _register_offset(tokens: EuTokens) -> SourceRegion | ImmediateOperand:
    return read_source(tokens, wide=False, size=1)


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
            units.append(2 * tokens.integer("a label, or a number of instructions"))
    return Targets(units[0], units[1] if count == 2 else None), labels
