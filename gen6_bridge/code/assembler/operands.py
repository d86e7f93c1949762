"""Operands in the public assembler's syntax: registers, regions, swizzles, write masks, immediates."""

from __future__ import annotations

import re

from gen6_bridge.code.assembler.symbols import DeclaredRegister, OperandRules, Region, Symbols, WrittenRegister
from gen6_bridge.code.assembler.tokens import EuToken, EuTokens
from gen6_bridge.code.isa.encoding.operands import (
    GRF_REGISTERS,
    IDENTITY,
    REGISTER_BYTES,
    VXH,
    Architecture,
    EuDestination,
    File,
    ImmediateOperand,
    IndirectAddress,
    Source,
    SourceRegion,
    float_bits,
)
from gen6_bridge.code.isa.encoding.text import SWIZZLE_LETTERS
from gen6_bridge.code.isa.encoding.types import EuType
from pixelflow.simd.errors import nearest

__all__ = ["TYPES", "is_register", "read_destination", "read_region", "read_register", "read_source", "read_type"]

_FILES = {
    "g": (File.GENERAL, 0, 128), "r": (File.GENERAL, 0, 128), "m": (File.MESSAGE, 0, 24),
    "acc": (File.ARCHITECTURE, 0x20, 2), "a": (File.ARCHITECTURE, 0x10, 1), "f": (File.ARCHITECTURE, 0x30, 1),
    "mask": (File.ARCHITECTURE, 0x40, 4), "msd": (File.ARCHITECTURE, 0x50, 1), "sr": (File.ARCHITECTURE, 0x70, 1),
    "cr": (File.ARCHITECTURE, 0x80, 1), "n": (File.ARCHITECTURE, 0x90, 3),
}  # fmt: skip
_ALONE = {"null": 0x00, "ip": 0xA0}
_REGISTER = re.compile(r"(acc|mask|msd|sr|cr|[grmafn])(\d+)$")
_REGISTERS = "g0..g127, m0..m23, acc0, acc1, a0, f0, sr0, cr0, n0..n2, null"
TYPES = ("UD", "D", "UW", "W", "UB", "B", "F")
_VECTORS = ("V", "VF")
_WIDEST_ROW = 16
_OWN_TYPE = (Architecture.STATE, Architecture.CONTROL, Architecture.NOTIFICATION, Architecture.INSTRUCTION_POINTER)
"""Architecture registers that are double words, and scalar, where nothing else is written."""


def is_register(word: str) -> bool:
    """Return whether a word is a register, which no label may be."""
    key = word.lower()
    return key in _ALONE or key in ("g", "r", "m") or _REGISTER.match(key) is not None


def read_register(tokens: EuTokens, symbols: Symbols) -> tuple[WrittenRegister, DeclaredRegister | None]:
    """Read a register, or a name that was declared with the indices after it; raises InputError."""
    token = tokens.take()
    declared = symbols.registers.get(token.text)
    if declared is not None:
        return _indexed(tokens, declared), declared
    key = token.key
    if key in ("g", "r", "m") and tokens.accept("["):
        return WrittenRegister(File.MESSAGE if key == "m" else File.GENERAL, 0, 0, _address(tokens)), None
    if key in _ALONE:
        return WrittenRegister(File.ARCHITECTURE, _ALONE[key]), None
    found = _REGISTER.match(key)
    if found is None:
        near = nearest(token.text, symbols.registers)
        raise tokens.fault(
            f"{token.text} is no register", f"did you mean {near}?" if near else f"registers: {_REGISTERS}", token
        )
    file, base, count = _FILES[found[1]]
    number = int(found[2])
    if number >= count:
        raise tokens.fault(f"there is no {token.text}", f"{found[1]}0 to {found[1]}{count - 1}", token)
    sub = 0
    if found[1] == "n":
        number, sub = 0, number  # the public assembler takes n1 for n0.1
    if tokens.peek() == "." and tokens.begins_number(1):
        tokens.take()
        sub = tokens.integer("the number of an element")
    return WrittenRegister(file, base + number, sub), None


def _indexed(tokens: EuTokens, declared: DeclaredRegister) -> WrittenRegister:
    """Read ``(2)`` or ``(2, 3)`` after a name: registers and elements further on."""
    register, token = declared.register, tokens.here
    if tokens.peek() != "(" or not tokens.begins_number():
        return register
    tokens.expect("(", "before an index")
    number, sub = register.number + tokens.integer("how many registers further on"), register.sub
    if tokens.accept(","):
        count = REGISTER_BYTES // declared.type.size
        sub += tokens.integer("how many elements further on")
        number, sub = number + sub // count, sub % count
    tokens.expect(")", "after an index")
    if register.file is File.GENERAL and not 0 <= number < GRF_REGISTERS:
        raise tokens.fault(f"there is no g{number}", f"g0 to g{GRF_REGISTERS - 1}", token)
    return WrittenRegister(register.file, number, sub, register.address)


def _address(tokens: EuTokens) -> IndirectAddress:
    token = tokens.take()
    if token.key != "a0":
        raise tokens.fault("an indirect operand begins at an address register", "g[a0.1, 32]", token)
    index = tokens.integer("0..7") if tokens.accept(".") else 0
    offset = 0
    if tokens.accept(","):
        offset = 0 if tokens.peek() == "]" else tokens.integer("an offset in bytes")
    elif tokens.peek() != "]":
        tokens.accept("+")
        offset = tokens.integer("an offset in bytes")
    tokens.expect("]", "after an indirect operand")
    if not 0 <= index <= 7:
        raise tokens.fault(f"there is no a0.{index}", "a0.0 to a0.7", token)
    if not -512 <= offset <= 511:
        raise tokens.fault(f"an offset of {offset} bytes", "an integer -512..511", token)
    return IndirectAddress(index, offset)


def read_type(tokens: EuTokens, default: EuType | None, further: tuple[str, ...] = ()) -> EuType:
    """Read a type, with or without a colon before it; raises InputError where one is wanted and none stands."""
    colon = tokens.accept(":")
    key = tokens.peek().upper()
    if key in (*TYPES, *further):
        tokens.take()
        return EuType[key]
    token = tokens.here
    glued = token is not None and token.kind == "word" and token.joined
    if default is not None and not colon and not glued:
        return default
    near = nearest(key, TYPES) if key else None
    raise tokens.fault("expected a type", f"did you mean {near}?" if near else ", ".join((*TYPES, *further)))


def _letters(tokens: EuTokens) -> tuple[str, EuType | None]:
    """Take ``.xyzw`` with the type that may follow without a blank: ``.xzF``."""
    if tokens.peek() != ".":
        return "", None
    found = re.fullmatch(r"([xyzw]{1,4})(ud|d|uw|w|ub|b|f)?", tokens.peek(1))
    if found is None:
        raise tokens.fault("expected channels after the point", "x, y, z, w", tokens.here)
    tokens.take()
    tokens.take()
    return found[1], EuType[found[2].upper()] if found[2] else None


def read_destination(tokens: EuTokens, rules: OperandRules) -> EuDestination:
    """Read a destination; raises InputError."""
    token = tokens.here
    register, declared = read_register(tokens, rules.symbols)
    stride = 1 if declared is None else declared.stride
    if tokens.accept("<"):
        stride = tokens.integer("a stride of 1, 2 or 4 elements")
        if stride not in (0, 1, 2, 4):
            raise tokens.fault(f"a stride of {stride} elements", "1, 2 or 4", token)
        tokens.expect(">", "after a stride")
    letters, kind = _letters(tokens)
    kind = kind or read_type(tokens, _default(register, declared, rules, (Architecture.INSTRUCTION_POINTER,)))
    mask = None
    if rules.wide and _architecture(register) is Architecture.NULL:
        mask = 0  # as the public assembler has it
    elif rules.wide:
        mask = sum(1 << SWIZZLE_LETTERS.index(letter) for letter in letters) if letters else 15
    elif letters:
        raise tokens.fault("a write mask belongs to 16-byte mode", "add align16 to the options", token)
    sub = _first_byte(tokens, register, kind, token)
    return EuDestination(register.file, kind, register.number, sub, stride, mask, register.address)


def _architecture(register: WrittenRegister) -> Architecture | None:
    plain = register.file is File.ARCHITECTURE and register.address is None
    return Architecture(register.number & 0xF0) if plain else None


def _default(
    register: WrittenRegister, declared: DeclaredRegister | None, rules: OperandRules, own: tuple[Architecture, ...]
) -> EuType:
    """Return the type of an operand that is written without one, ``own`` registers being double words."""
    if declared is not None:
        return declared.type
    known = _architecture(register)
    return EuType.UD if known in own or known is Architecture.CONTROL else rules.symbols.type


def _first_byte(tokens: EuTokens, register: WrittenRegister, kind: EuType, token: EuToken | None) -> int:
    """Return where an operand begins in its register; raises InputError for an element past it."""
    if not 0 <= register.sub * kind.size < REGISTER_BYTES:
        raise tokens.fault(
            f"element {register.sub} lies past the register", f"{REGISTER_BYTES} bytes are a register", token
        )
    return register.sub * kind.size


def read_source(tokens: EuTokens, rules: OperandRules) -> Source:
    """Read a source: an immediate, or a region with its signs. Raises InputError."""
    if tokens.begins_number():
        return _immediate(tokens)
    token = tokens.here
    negate = tokens.accept("-")
    absolute = tokens.accept("(abs)")
    register, declared = read_register(tokens, rules.symbols)
    region = read_region(tokens, indirect=register.address is not None)
    letters, kind = _letters(tokens)
    own = (*_OWN_TYPE, Architecture.NULL)
    typed = kind or read_type(tokens, _default(register, declared, rules, own))
    swizzle = None
    if rules.wide:
        channels = [SWIZZLE_LETTERS.index(letter) for letter in letters] or list(IDENTITY)
        channels += [channels[-1]] * (4 - len(channels))
        swizzle = (channels[0], channels[1], channels[2], channels[3])
    elif letters:
        raise tokens.fault("a swizzle belongs to 16-byte mode", "add align16 to the options", token)
    if region is None or _architecture(register) is Architecture.NULL:
        region = declared.region if declared is not None else _unwritten(register, typed, rules)
    vertical, width, horizontal = region
    if rules.wide and vertical == 8:
        vertical = 4  # the public assembler takes <8;8,1> for rows of four there
    return SourceRegion(
        register.file,
        typed,
        register.number,
        _first_byte(tokens, register, typed, token),
        vertical,
        4 if rules.wide else width,
        1 if rules.wide else horizontal,
        int(absolute),
        int(negate),
        swizzle,
        register.address,
    )


def _unwritten(register: WrittenRegister, kind: EuType, rules: OperandRules) -> Region:
    """Return the region that the public assembler takes where none is written; what null has says nothing."""
    known = _architecture(register)
    if known is Architecture.ACCUMULATOR:
        width = min(8, rules.size)
        return width, width, 1
    packed = not rules.scalar and 1 < rules.size <= _WIDEST_ROW
    if known is Architecture.ADDRESS or known in _OWN_TYPE or register.address is not None or not packed:
        return 0, 1, 0
    if kind.size * (rules.size + register.sub) > REGISTER_BYTES:
        return 0, 1, 0
    return rules.size, rules.size, 1


def read_region(tokens: EuTokens, *, indirect: bool) -> Region | None:
    """Read strides and a width, or nothing where none are written; raises InputError."""
    if not tokens.accept("<"):
        return None
    token = tokens.here
    numbers = [tokens.integer("a stride or a width")]
    while tokens.accept(",") or tokens.accept(";"):
        numbers.append(tokens.integer("a stride or a width"))
    tokens.expect(">", "after a region")
    match numbers:
        case [vertical]:
            found = (vertical, 1, 0)
        case [width, horizontal] if indirect:
            found = (VXH, width, horizontal)
        case [vertical, width, horizontal]:
            found = (vertical, width, horizontal)
        case _:
            raise tokens.fault("a region has a vertical stride, a width and a horizontal stride", "<8;8,1>", token)
    for value, choices, what in (
        (found[0], (0, 1, 2, 4, 8, 16, 32, VXH), "vertical stride"),
        (found[1], (1, 2, 4, 8, 16), "width"),
        (found[2], (0, 1, 2, 4), "horizontal stride"),
    ):
        if value not in choices:
            few = ", ".join(str(each) for each in choices if each != VXH)
            raise tokens.fault(f"a {what} of {value}", f"one of {few}", token)
    return found


# --- immediates -------------------------------------------------------------------------------------------------------


def _immediate(tokens: EuTokens) -> ImmediateOperand:
    token = tokens.here
    value = _number(tokens)
    if tokens.peek().upper() in ("UB", "B"):
        raise tokens.fault("there are no immediates of one byte", "write it as W or UW", token)
    kind = read_type(tokens, EuType.F if isinstance(value, float) else EuType.D, _VECTORS)
    if kind is EuType.F:
        return ImmediateOperand(kind, float_bits(float(value)))
    if isinstance(value, float):
        raise tokens.fault(f"{value:g} is no whole number", "a float is written with the type F", token)
    size = 32 if kind.packed else 8 * kind.size
    if not -(1 << size - 1) <= value < 1 << size:
        raise tokens.fault(f"{value} does not fit {size} bits", None, token)
    bits = value & (1 << size) - 1
    if kind in (EuType.W, EuType.UW):
        bits |= bits << 16  # both halves of the field hold it
    return ImmediateOperand(kind, bits)


def _number(tokens: EuTokens) -> int | float:
    """Take a float with its sign, or a constant expression of whole numbers."""
    at = 1 if tokens.peek() == "-" else 0
    if "." in tokens.peek(at) and tokens.peek(at) != ".":
        minus = tokens.accept("-")
        found = float(tokens.take().text)
        return -found if minus else found
    return tokens.integer("a number")
