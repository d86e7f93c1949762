"""Operands in the public assembler's syntax: registers, regions, swizzles, write masks, immediates."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from gen6_bridge.code.assembler.tokens import EuToken, EuTokens
from gen6_bridge.code.isa.encoding.operands import (
    IDENTITY,
    VXH,
    EuDestination,
    File,
    ImmediateOperand,
    IndirectAddress,
    Source,
    SourceRegion,
)
from gen6_bridge.code.isa.encoding.text import SWIZZLE_LETTERS
from gen6_bridge.code.isa.encoding.types import EuType
from pixelflow.simd.errors import nearest

__all__ = ["is_register", "read_destination", "read_source"]

_FILES = {
    "g": (File.GENERAL, 0, 128), "r": (File.GENERAL, 0, 128), "m": (File.MESSAGE, 0, 24),
    "acc": (File.ARCHITECTURE, 0x20, 2), "a": (File.ARCHITECTURE, 0x10, 1), "f": (File.ARCHITECTURE, 0x30, 1),
    "mask": (File.ARCHITECTURE, 0x40, 4), "msd": (File.ARCHITECTURE, 0x50, 1), "sr": (File.ARCHITECTURE, 0x70, 1),
    "cr": (File.ARCHITECTURE, 0x80, 1), "n": (File.ARCHITECTURE, 0x90, 3),
}  # fmt: skip
_ALONE = {"null": 0x00, "ip": 0xA0}
_REGISTER = re.compile(r"(acc|mask|msd|sr|cr|[grmafn])(\d+)$")
_REGISTERS = "g0..g127, m0..m23, acc0, acc1, a0, f0, sr0, cr0, n0..n2, null"
_FLOAT = "F"
_WIDEST_ROW = 32


@dataclass(frozen=True, slots=True)
class _Register:
    """A register as it is written."""

    file: File
    number: int
    sub: int | None
    address: IndirectAddress | None = None


def is_register(word: str) -> bool:
    """Return whether a word is a register, which no label may be."""
    return word in _ALONE or word in ("g", "r", "m") or _REGISTER.match(word) is not None


def _register(tokens: EuTokens) -> _Register:
    token = tokens.take()
    if token.text in ("g", "r", "m") and tokens.accept("["):
        if token.text == "m":
            raise tokens.fault("message registers have no indirect form here", None, token)
        return _Register(File.GENERAL, 0, None, _address(tokens))
    if token.text in _ALONE:
        return _Register(File.ARCHITECTURE, _ALONE[token.text], None)
    found = _REGISTER.match(token.text)
    if found is None:
        raise tokens.fault(f"{token.text} is no register", f"registers: {_REGISTERS}", token)
    file, base, count = _FILES[found[1]]
    number = int(found[2])
    if number >= count:
        raise tokens.fault(f"there is no {token.text}", f"{found[1]}0 to {found[1]}{count - 1}", token)
    sub = None
    following = tokens.here
    if tokens.peek() == "." and following is not None and re.fullmatch(r"\d+", tokens.peek(1)):
        tokens.take()
        sub = tokens.integer("the number of an element")
    return _Register(file, base + number, sub)


def _address(tokens: EuTokens) -> IndirectAddress:
    token = tokens.take()
    if token.text != "a0":
        raise tokens.fault("an indirect operand begins at an address register", "g[a0.1, 32]", token)
    index = tokens.integer("0..7") if tokens.accept(".") else 0
    offset = 0
    if tokens.peek() in (",", "-", "+") or (tokens.here is not None and tokens.here.kind == "number"):
        if not tokens.accept(","):
            tokens.accept("+")
        offset = tokens.integer("an offset in bytes")
    tokens.expect("]", "after an indirect operand")
    if not 0 <= index <= 7:
        raise tokens.fault(f"there is no a0.{index}", "a0.0 to a0.7", token)
    if not -512 <= offset <= 511:
        raise tokens.fault(f"an offset of {offset} bytes", "an integer -512..511", token)
    return IndirectAddress(index, offset)


def _type(tokens: EuTokens, default: EuType | None) -> EuType:
    tokens.accept(":")
    token = tokens.here
    if token is not None and token.text in EuType.__members__ and token.text not in ("DF", "UV"):
        tokens.take()
        return EuType[token.text]
    if default is not None:
        return default
    near = nearest(tokens.peek().upper(), ("UD", "D", "UW", "W", "UB", "B", "F")) if tokens.peek() else None
    raise tokens.fault("expected a type", f"did you mean {near}?" if near else "UD, D, UW, W, UB, B or F")


def _letters(tokens: EuTokens) -> tuple[str, EuType | None]:
    """Take ``.xyzw`` with the type that may follow without a blank: ``.xzF``."""
    if tokens.peek() != ".":
        return "", None
    found = re.fullmatch(r"([xyzw]{1,4})(UD|D|UW|W|UB|B|F)?", tokens.peek(1))
    if found is None:
        raise tokens.fault("expected channels after the point", "x, y, z, w", tokens.here)
    tokens.take()
    tokens.take()
    return found[1], EuType[found[2]] if found[2] else None


def read_destination(tokens: EuTokens, *, wide: bool, size: int) -> EuDestination:
    """Read a destination; ``wide`` in 16-byte mode. Raises InputError."""
    token = tokens.here
    register = _register(tokens)
    stride = 1
    if tokens.accept("<"):
        stride = tokens.integer("a stride of 1, 2 or 4 elements")
        if stride not in (0, 1, 2, 4):
            raise tokens.fault(f"a stride of {stride} elements", "1, 2 or 4", token)
        tokens.expect(">", "after a stride")
    letters, kind = _letters(tokens)
    null = register.file is File.ARCHITECTURE and register.number in _ALONE.values()
    kind = kind or _type(tokens, EuType.UD if null else _default(register))
    mask = None
    if wide:
        mask = sum(1 << SWIZZLE_LETTERS.index(letter) for letter in letters) if letters else 15
    elif letters:
        raise tokens.fault("a write mask belongs to 16-byte mode", "add align16 to the options", token)
    sub = (register.sub or 0) * kind.size
    _check_sub(tokens, sub, register, token)
    return EuDestination(register.file, kind, register.number, sub, stride, mask, register.address)


def _default(register: _Register) -> EuType | None:
    """Return the type of a register that has one of its own."""
    if register.file is not File.ARCHITECTURE:
        return None
    return {
        0x10: EuType.UW,
        0x30: EuType.UW,
        0x70: EuType.UD,
        0x80: EuType.UD,
        0x90: EuType.UD,
    }.get(register.number & 0xF0)


def _check_sub(tokens: EuTokens, sub: int, register: _Register, token: EuToken | None) -> None:
    if sub >= 32 or (register.sub or 0) < 0:
        raise tokens.fault(f"element {register.sub} lies past the register", "32 bytes are a register", token)


def read_source(tokens: EuTokens, *, wide: bool, size: int) -> Source:
    """Read a source: an immediate, or a region with its signs. Raises InputError."""
    if _is_immediate(tokens):
        return _immediate(tokens)
    token = tokens.here
    negate = tokens.accept("-")
    absolute = tokens.accept("(abs)")
    register = _register(tokens)
    region = _region(tokens, indirect=register.address is not None)
    letters, kind = _letters(tokens)
    null = register.file is File.ARCHITECTURE and register.number in _ALONE.values()
    kind = kind or _type(tokens, EuType.UD if null else _default(register))
    swizzle = None
    if wide:
        channels = [SWIZZLE_LETTERS.index(letter) for letter in letters] or list(IDENTITY)
        channels += [channels[-1]] * (4 - len(channels))
        swizzle = (channels[0], channels[1], channels[2], channels[3])
    elif letters:
        raise tokens.fault("a swizzle belongs to 16-byte mode", "add align16 to the options", token)
    vertical, width, horizontal = region or _whole(register, kind, size)
    sub = (register.sub or 0) * kind.size
    _check_sub(tokens, sub, register, token)
    return SourceRegion(
        register.file,
        kind,
        register.number,
        sub,
        vertical,
        4 if wide else width,
        1 if wide else horizontal,
        int(absolute),
        int(negate),
        swizzle,
        register.address,
    )


def _whole(register: _Register, kind: EuType, size: int) -> tuple[int, int, int]:
    """Return the region of a register that is written without one: packed elements, or one for a single channel."""
    if size == 1 or register.number in _ALONE.values():
        return 0, 1, 0
    width = min(size, _WIDEST_ROW // kind.size, 16)
    return width, width, 1


def _region(tokens: EuTokens, *, indirect: bool) -> tuple[int, int, int] | None:
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


def _is_immediate(tokens: EuTokens) -> bool:
    ahead = 1 if tokens.peek() in ("-", "+") else 0
    return tokens.peek(ahead)[:1].isdigit()


def _immediate(tokens: EuTokens) -> ImmediateOperand:
    token = tokens.here
    minus = tokens.accept("-")
    tokens.accept("+")
    number = tokens.take()
    kind = _type(tokens, None)
    written = float(number.text) if "." in number.text else int(number.text, 0)
    value = -written if minus else written
    if kind is EuType.F:
        return ImmediateOperand(kind, _float_bits(float(value)))
    if isinstance(value, float):
        raise tokens.fault(f"{number.text} is no whole number", "a float is written with the type F", token)
    size = 32 if kind.packed else 8 * kind.size
    if not -(1 << size - 1) <= value < 1 << size:
        raise tokens.fault(f"{value} does not fit {size} bits", None, token)
    bits = value & (1 << size) - 1
    if kind in (EuType.W, EuType.UW):
        bits |= bits << 16  # both halves of the field hold it
    if kind in (EuType.B, EuType.UB):
        raise tokens.fault("there are no immediates of one byte", "write it as W or UW", token)
    return ImmediateOperand(kind, bits)


def _float_bits(value: float) -> int:
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits
