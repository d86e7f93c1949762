"""Tokens of the public assembler's language, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gen6_bridge.isa.assembly_text import SWIZZLE_LETTERS
from gen6_bridge.isa.operands import (
    GRF_REGISTERS,
    IDENTITY,
    REGISTER_BYTES,
    VXH,
    Architecture,
    EuDestination,
    EuMessage,
    EuType,
    File,
    ImmediateOperand,
    IndirectAddress,
    Source,
    SourceRegion,
    float_bits,
)
from pixelflow.simd.errors import Fault, InputError, nearest, suggestion
from pixelflow.simd.isa.scanner import SourceToken, StatementTokens, blanked, place_in, scanned

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<abs>\(abs\))
  | (?P<number>0[xX][0-9a-fA-F]+|\d+\.\d+(?:[eE][-+]?\d+)?|\d+)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign>[()<>\[\]{},;:.+\-*/=])
    """,
    re.VERBOSE,
)
_LONGEST = 80
"""Characters of a word or a number."""
_BITS = 64
"""Of an expression's value."""
_DEEPEST = 50
"""Nested parentheses."""
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/|\#[^\n]*", re.DOTALL)


class EuTokens(StatementTokens):
    """Statement that is read from left to right; case matters only in names of labels and declared registers."""

    folds = True

    def __init__(self, tokens: Sequence[SourceToken]) -> None:
        super().__init__(tokens)
        self._open = 0
        self.said_unsigned = False
        """True if a message's descriptor is a number of type UD."""
        self.unread_bits = 0
        """Bits of that number outside of all fields."""

    def take(self) -> SourceToken:
        """Take the next token; raises InputError at the end."""
        return self.required("the instruction ends here", "an operand, a size or options are missing")

    def option(self, name: str) -> bool:
        """Return whether an option is between the braces at the end."""
        keys = [token.key for token in self._tokens]
        return "{" in keys and name in keys[keys.index("{") :]

    def expect(self, text: str, what: str) -> None:
        """Take a sign; raises InputError, with ``what`` as its place, for another token."""
        if not self.accept(text):
            raise self.fault(f"expected {text} {what}", None)

    def begins_number(self, ahead: int = 0) -> bool:
        """Return whether a number, or an expression in parentheses, follows."""
        while self.peek(ahead) in ("-", "("):
            ahead += 1
        return self.peek(ahead)[:1].isdigit()

    def integer(self, what: str) -> int:
        """Take a constant expression of whole numbers (``2 * (3 + 4) - 1``) and return its value; raises InputError.

        Quotients are rounded toward zero, as in C. A sign belongs to it only if a number follows.
        """
        total = self._term(what)
        while self.peek() in ("+", "-") and self.begins_number(1):
            sign = self.take()
            term = self._term(what)
            total = self._small(total - term if sign.text == "-" else total + term, what, sign)
        return total

    def _small(self, value: int, what: str, token: SourceToken | None) -> int:
        if value.bit_length() > _BITS:
            raise self.fault(f"{what} has more than {_BITS} bits", f"at most {_BITS}, on the way too", token)
        return value

    def _term(self, what: str) -> int:
        product = self._small(self._factor(what), what, self.here)
        while self.peek() in ("*", "/") and self.begins_number(1):
            sign = self.take()
            factor = self._factor(what)
            if sign.text == "*":
                product = self._small(product * factor, what, sign)
            elif factor:
                product = abs(product) // abs(factor) * (1 if (product < 0) == (factor < 0) else -1)
            else:
                raise self.fault("a division by 0", None, sign)
        return product

    def _factor(self, what: str) -> int:
        sign = 1
        while self.accept("-"):
            sign = -sign
        if self.accept("("):
            self._open += 1
            if self._open > _DEEPEST:
                raise self.fault(f"{what} is nested too deeply", f"at most {_DEEPEST} parentheses")
            inner = self.integer(what)
            self._open -= 1
            self.expect(")", "after an expression")
            return sign * inner
        number = self.here
        if number is None or number.kind != "number" or "." in number.text:
            raise self.fault(f"expected {what}, a whole number", None)
        self.skip()
        return sign * int(number.text, 16 if number.key.startswith("0x") else 10)


def statements(text: str, file: str) -> Iterator[list[SourceToken]]:
    """Yield the statements of a source: they end with ``;``, in sources without any with the line; labels with ``:``.

    Comments are ``//``, ``/* */`` and ``#`` to the end of the line. Raises InputError for a character of no token.
    """
    semicolons = ";" in re.sub(r"<[^>\n]*>", "", blanked(text, _COMMENTS))
    statement: list[SourceToken] = []
    for line in scanned(text, file, _COMMENTS, _TOKEN, "\r"):
        for token in line:
            if token.kind in ("word", "number") and len(token.text) > _LONGEST:
                place = place_in(token.line, token.column)
                raise InputError(Fault(f"a {token.kind} of {len(token.text)} characters", place, f"at most {_LONGEST}"))
            if token.text == ";" and _depth(statement) <= 0:
                if statement:
                    yield statement
                statement = []
                continue
            statement.append(token)
            if token.text == ":" and len(statement) == 2 and statement[0].kind == "word":
                yield statement
                statement = []
        ends = not semicolons or (statement and statement[0].text == ".")
        if statement and ends and _depth(statement) == 0:
            yield statement
            statement = []
    if statement:
        yield statement


def _depth(statement: Sequence[SourceToken]) -> int:
    opened = sum(token.text in "<([{" for token in statement)
    return opened - sum(token.text in ">)]}" for token in statement)


# Symbols: defaults and names declared by directives.


SIZES = (1, 2, 4, 8, 16, 32)
"""Channels that a statement may have."""
Region = tuple[int, int, int]
"""Vertical stride, width, horizontal stride, in elements."""


class WrittenRegister(NamedTuple):
    """Register in a source; its sub-register counts elements of the type that follows."""

    file: File
    number: int
    sub: int = 0
    address: IndirectAddress | None = None


class DeclaredRegister(NamedTuple):
    """Named register, with the defaults of its operands."""

    register: WrittenRegister
    type: EuType
    region: Region
    stride: int


@dataclass(slots=True)
class Symbols:
    """Default size and type, and names, for later statements."""

    size: int = 8
    """Channels of a statement without a size."""
    type: EuType = EuType.F
    """Type of a register without one."""
    registers: dict[str, DeclaredRegister] = field(default_factory=dict)


class OperandRules(NamedTuple):
    """Rules by which operands of one statement are read."""

    symbols: Symbols
    size: int
    """Channels."""
    wide: bool = False
    """True in 16-byte mode."""
    scalar: bool = False
    """True if a missing region means one element for all channels."""


# Operands in the public assembler's syntax: registers, regions, swizzles, write masks, immediates.


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
"""Architecture registers that are scalar double words by default."""


def is_register(word: str) -> bool:
    """Return whether a word is a register, and so not a label."""
    key = word.lower()
    return key in _ALONE or key in ("g", "r", "m") or _REGISTER.match(key) is not None


def read_register(tokens: EuTokens, symbols: Symbols) -> tuple[WrittenRegister, DeclaredRegister | None]:
    """Read a register, or a declared name with its indices; raises InputError."""
    token = tokens.take()
    declared = symbols.registers.get(token.text)
    if declared is not None:
        return _indexed(tokens, declared), declared
    key = token.key
    if key in ("g", "r", "m") and tokens.accept("["):
        return WrittenRegister(File.MESSAGE if key == "m" else File.GENERAL, 0, 0, _address(tokens)), None
    if key in _ALONE:
        return WrittenRegister(File.ARCHITECTURE, _ALONE[key]), None
    match = _REGISTER.match(key)
    if match is None:
        hint = suggestion(token.text, symbols.registers, f"registers: {_REGISTERS}")
        raise tokens.fault(f"{token.text} is not a register", hint, token)
    file, base, count = _FILES[match[1]]
    number = int(match[2])
    if number >= count:
        raise tokens.fault(f"there is no {token.text}", f"{match[1]}0 to {match[1]}{count - 1}", token)
    sub = 0
    if match[1] == "n":
        number, sub = 0, number  # the public assembler reads n1 as n0.1
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
    """Read a type, with or without a colon before it; raises InputError where one is missing."""
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
    match = re.fullmatch(r"([xyzw]{1,4})(ud|d|uw|w|ub|b|f)?", tokens.peek(1))
    if match is None:
        raise tokens.fault("expected channels after the point", "x, y, z, w", tokens.here)
    tokens.take()
    tokens.take()
    return match[1], EuType[match[2].upper()] if match[2] else None


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
        mask = 0  # as in the public assembler
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
    """Return the type of an operand without one; ``own`` registers are double words."""
    if declared is not None:
        return declared.type
    known = _architecture(register)
    return EuType.UD if known in own or known is Architecture.CONTROL else rules.symbols.type


def _first_byte(tokens: EuTokens, register: WrittenRegister, kind: EuType, token: SourceToken | None) -> int:
    """Return where an operand begins in its register; raises InputError for an element past it."""
    if not 0 <= register.sub * kind.size < REGISTER_BYTES:
        hint = f"a register has {REGISTER_BYTES} bytes"
        raise tokens.fault(f"element {register.sub} is past the register", hint, token)
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
    """Read strides and a width, if there are any; raises InputError."""
    if not tokens.accept("<"):
        return None
    token = tokens.here
    numbers = [tokens.integer("a stride or a width")]
    while tokens.accept(",") or tokens.accept(";"):
        numbers.append(tokens.integer("a stride or a width"))
    tokens.expect(">", "after a region")
    match numbers:
        case [vertical]:
            region = (vertical, 1, 0)
        case [width, horizontal] if indirect:
            region = (VXH, width, horizontal)
        case [vertical, width, horizontal]:
            region = (vertical, width, horizontal)
        case _:
            raise tokens.fault("a region has a vertical stride, a width and a horizontal stride", "<8;8,1>", token)
    for value, choices, what in (
        (region[0], (0, 1, 2, 4, 8, 16, 32, VXH), "vertical stride"),
        (region[1], (1, 2, 4, 8, 16), "width"),
        (region[2], (0, 1, 2, 4), "horizontal stride"),
    ):
        if value not in choices:
            few = ", ".join(str(each) for each in choices if each != VXH)
            raise tokens.fault(f"a {what} of {value}", f"one of {few}", token)
    return region


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
        raise tokens.fault(f"{value:g} is not a whole number", "a float is written with the type F", token)
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
        value = float(tokens.take().text)
        return -value if minus else value
    return tokens.integer("a number")


# Messages in the public assembler's syntax: a target with its fields, or its number and a descriptor.


_END = 0x20
_NO_FIELD = 3 << 29
"""Bits of a descriptor outside of all fields; they are kept."""
_ANY = 32
"""Width of a field that is ignored, or only compared with 0."""
_CACHES = (4, 5, 9)
_CACHE_NAMES = "4 the sampler's, 5 the render cache, 9 the constant cache"
_FIELDS = {
    "sampler": "sampler(table entry, sampler, F)", "read": "read(table entry, cache, control, type)",
    "write": "write(table entry, control, type, commit[, header])", "urb": "urb offset [interleave] [allocate]",
    "thread_spawner": "thread_spawner(opcode, requester, resource)", "gateway": "gateway", "null": "null",
    "data_port": "data_port(cache, type, control, table entry, commit, header)",
    "vme": "vme(table entry, path, index, type)",
}  # fmt: skip


def read_message(tokens: EuTokens) -> tuple[int, EuMessage]:
    """Read a target with its fields and lengths; return its number and the message. Raises InputError."""
    token = tokens.here
    if token is not None and token.kind == "number":
        return _plain(tokens)
    name = tokens.take().key
    if name not in _FIELDS:
        hint = suggestion(name, _FIELDS, ", ".join(_FIELDS))
        raise tokens.fault(f"{name} is not a target of messages", hint, token)
    header = 1
    match name:
        case "sampler":
            entry, sampler = _numbers(tokens, name, 8, 4, more=True)
            if tokens.take().key not in ("f", "ud", "d"):
                raise tokens.fault("expected the type of the answer", "F, UD or D", token)
            tokens.expect(")", f"after {_FIELDS[name]}")
            target, function = 2, entry | sampler << 8 | 2 << 16
        case "read":
            entry, _, control, kind = _numbers(tokens, name, 8, _ANY, 5, 3)
            target, function = 4, entry | control << 8 | kind << 13
        case "write":
            entry, control, kind, commit, *rest = _numbers(tokens, name, 8, 5, 4, 1, _ANY, optional=1)
            header = int(bool(rest[0])) if rest else 1
            target, function = 5, entry | control << 8 | kind << 13 | commit << 17
        case "data_port":
            target, kind, control, entry, commit, given = _numbers(tokens, name, 4, 4, 5, 8, 1, _ANY)
            if target not in _CACHES:
                raise tokens.fault(f"{target} is not a cache of the data ports", _CACHE_NAMES, token)
            header, function = int(bool(given)), entry | control << 8 | kind << 13 | commit << 17
        case "urb":
            offset = tokens.integer("an offset in registers")
            if not 0 <= offset < 64:
                raise tokens.fault(f"an offset of {offset} registers", "0 to 63", token)
            function = offset << 4
            for word, bits in (("transpose", 2 << 10), ("interleave", 1 << 10), ("allocate", 1 << 13),
                               ("used", 1 << 14), ("complete", 1 << 15)):  # fmt: skip
                function |= bits * tokens.accept(word)
            target = 6
        case "thread_spawner":
            opcode, requester, resource = _numbers(tokens, name, 1, 1, 1)
            target, header, function = 7, 0, opcode | requester << 1 | resource << 4
        case "vme":
            entry, path, index, kind = _numbers(tokens, name, 8, 3, 2, 2)
            target, function = 8, entry | path << 8 | index << 11 | kind << 13
        case _:
            target, header, function = (3 if name == "gateway" else 0), 0, 0
    tokens.expect("mlen", "after the target")
    length = _limited(tokens, "the length of the message in registers", 4)
    tokens.expect("rlen", "after the length of the message")
    response = _limited(tokens, "the length of the answer in registers", 5)
    return target, EuMessage(function, header, response, length, 0)


def _plain(tokens: EuTokens) -> tuple[int, EuMessage]:
    """Read a number of a target, 0x20 added at the end of the thread, and a descriptor of 32 bits."""
    target = _limited(tokens, "the number of a target", 6)
    if tokens.here is not None and tokens.here.kind == "word":
        raise tokens.fault("a descriptor in a register is not modelled", "write it as a number: 0x02420001UD")
    descriptor = _limited(tokens, "a descriptor", 32)
    if tokens.peek() in ("ud", "d"):
        tokens.said_unsigned = tokens.take().key == "ud"
    ends = int(bool(target & _END))  # the descriptor's own bit does not count
    message = EuMessage(descriptor & 0x7FFFF, descriptor >> 19 & 1, descriptor >> 20 & 31, descriptor >> 25 & 15, ends)
    tokens.unread_bits = descriptor & _NO_FIELD
    return target & 15, message


def _limited(tokens: EuTokens, what: str, width: int) -> int:
    """Take a number of ``width`` bits."""
    token = tokens.here
    number = tokens.integer(what)
    if not 0 <= number < 1 << width:
        raise tokens.fault(f"{number} does not fit {what}", f"0 to {(1 << width) - 1}", token)
    return number


def _numbers(tokens: EuTokens, name: str, *widths: int, optional: int = 0, more: bool = False) -> list[int]:
    """Read fields between parentheses, each of this many bits; the last ``optional`` may be missing."""
    tokens.expect("(", f"of {_FIELDS[name]}")
    numbers: list[int] = []
    while len(numbers) < len(widths):
        if numbers and not tokens.accept(","):
            break
        numbers.append(_limited(tokens, f"a field of {_FIELDS[name]}", widths[len(numbers)]))
    if len(numbers) < len(widths) - optional:
        raise tokens.fault(f"{len(widths) - optional} fields are wanted", _FIELDS[name])
    if more:
        tokens.expect(",", f"of {_FIELDS[name]}")
    else:
        tokens.expect(")", f"after {_FIELDS[name]}")
    return numbers
