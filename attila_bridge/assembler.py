"""Meaning: assembler of the text of ARB programs."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from attila_bridge.isa.declarations import INSTRUCTIONS, ShaderDeclaration, destination_of, sources_of
from attila_bridge.isa.operands import (
    ADDRESS_REGISTER,
    ALL,
    BANK_SIZES,
    COMPONENTS,
    DST,
    SAMPLER,
    RegisterBank,
    ShaderDestination,
    ShaderSource,
    ShaderStage,
    TextureOperand,
    register_id,
)
from pixelflow.simd import files as packaged
from pixelflow.simd.errors import Fault, InputError, Place, nearest, suggestion
from pixelflow.simd.isa.declare import Declaration, Instruction, InstructionSet
from pixelflow.simd.isa.operands import Operand
from pixelflow.simd.isa.program import AssembledProgram, DataBlock
from pixelflow.simd.isa.scanner import SourceToken, StatementTokens, origins, scanned
from pixelflow.simd.isa.target import ProgramTarget

# Tokens of the text of an ARB program, each with its place.


_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<header>!!\S+)
  | (?P<target>[123]D(?![A-Za-z0-9_]))
  | (?P<range>\.\.)
  | (?P<number>(?:\d+\.\d*|\.\d+|\d+(?!\.\.))(?:[eE][-+]?\d+)?)
  | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
  | (?P<sign>[\[\]{},;.+\-=|])
    """,
    re.VERBOSE,
)
_TOO_LARGE = (2 - 2**-24) * 2.0**127
"""Least number that rounds to no float32."""
_COMMENT = re.compile(r"#[^\n]*")


class ProgramTokens(StatementTokens):
    """A statement, read from left to right."""

    def take(self, what: str) -> SourceToken:
        """Take the next token; raises InputError at the end of the statement."""
        return self.required(f"the statement ends here: {what} is missing")

    def word(self, what: str) -> SourceToken:
        """Take a word; raises InputError for another token."""
        token = self.here
        if token is None or token.kind != "word":
            raise self.fault(f"{what} is wanted here")
        self.skip()
        return token

    def expect(self, text: str, what: str) -> None:
        """Take a sign; raises InputError for another token."""
        if not self.accept(text):
            raise self.fault(f"{text!r} is wanted here, {what}")

    def end(self) -> None:
        """Refuse further tokens."""
        if self.here is not None:
            raise self.fault(f"{self.peek()!r} is too much here", "statements end with ';'")

    def whole(self, what: str, most: int) -> int:
        """Take an integer 0 to most."""
        digits = self.peek().lstrip("0") or self.peek()[-1:]
        if not digits.isdigit() or len(digits) > len(str(most)) or int(digits) > most:
            raise self.fault(f"{what}, an integer 0 to {most}, is wanted here")
        self.skip()
        return int(digits)

    def number(self) -> float:
        """Take a number with its sign."""
        minus = self.accept("-")
        if not minus:
            self.accept("+")
        token = self.here
        if token is None or token.kind != "number":
            raise self.fault("a number is wanted here")
        if float(token.text) >= _TOO_LARGE:
            raise self.fault("a number of at most 3.4028235e+38 is wanted here")
        self.skip()
        return -float(token.text) if minus else float(token.text)


def statements_of(text: str, file: str) -> Iterator[list[SourceToken]]:
    """Yield the statements of a program: its header, END, and others that end with ``;``.

    Raises InputError for an unknown token or a statement without an end.
    """
    statement: list[SourceToken] = []
    for line in scanned(text, file, _COMMENT, _TOKEN):
        for token in line:
            if token.text == ";":
                if statement:
                    yield statement
                statement = []
            elif not statement and (token.kind == "header" or token.text == "END"):
                yield [token]
            else:
                statement.append(token)
    if statement:
        raise ProgramTokens(statement).fault("this statement has no end", "statements end with ';'", statement[0])


# Names of ARB programs: registers of bindings, and names declared by a program.


Constant = tuple[float, float, float, float]

_SIMPLE: dict[tuple[ShaderStage, RegisterBank], dict[str, int]] = {
    (ShaderStage.VERTEX, RegisterBank.INPUT): {"position": 0, "normal": 2, "color": 3, "color.primary": 3},
    (ShaderStage.VERTEX, RegisterBank.OUTPUT): {
        "position": 0,
        "color": 1,
        "color.primary": 1,
        "color.front": 1,
        "color.front.primary": 1,
    },
    (ShaderStage.FRAGMENT, RegisterBank.INPUT): {"position": 0, "color": 1, "color.primary": 1},
    (ShaderStage.FRAGMENT, RegisterBank.OUTPUT): {"color": 1, "depth": 0},
}
_NUMBERED: dict[tuple[ShaderStage, RegisterBank], dict[str, tuple[int, int]]] = {
    (ShaderStage.VERTEX, RegisterBank.INPUT): {"texcoord": (8, 7), "attrib": (0, 15)},
    (ShaderStage.VERTEX, RegisterBank.OUTPUT): {"texcoord": (6, 9)},
    (ShaderStage.FRAGMENT, RegisterBank.INPUT): {"texcoord": (6, 9)},
    (ShaderStage.FRAGMENT, RegisterBank.OUTPUT): {},
}
"""Of each binding with a number: the register of number 0, and the highest number."""
_LOCAL = 255


@dataclass(frozen=True, slots=True)
class Named:
    """Registers of a bank with a name."""

    bank: RegisterBank
    number: int
    count: int = 1
    array: bool = False


@dataclass(slots=True)
class ProgramNames:
    """Declarations of a program."""

    stage: ShaderStage
    known: dict[str, Named] = field(default_factory=dict)
    constants: list[Constant] = field(default_factory=list)
    temporaries: int = 0
    _literals: dict[bytes, int] = field(default_factory=dict)

    def declare(self, token: SourceToken, named: Named) -> None:
        """Declare a name; raises InputError if it exists."""
        if token.text in self.known:
            raise InputError(Fault(f"{token.text} is declared twice", token.place))
        self.known[token.text] = named

    def find(self, token: SourceToken) -> Named:
        """Return the registers of a name; raises InputError with the nearest known one."""
        named = self.known.get(token.text)
        if named is None:
            hint = suggestion(
                token.text,
                [*self.known, "vertex", "fragment", "result", "program"],
                f"declared: {', '.join(self.known) or 'nothing'}",
            )
            raise InputError(Fault(f"unknown name {token.text}", token.place, hint))
        return named

    def temporary(self, token: SourceToken) -> Named:
        """Return a fresh temporary register."""
        if self.temporaries == BANK_SIZES[RegisterBank.TEMPORARY]:
            raise InputError(Fault(f"there are {self.temporaries} temporary registers, no more", token.place))
        self.temporaries += 1
        return Named(RegisterBank.TEMPORARY, self.temporaries - 1)

    def add_constants(self, values: list[Constant], token: SourceToken, *, array: bool = False) -> Named:
        """Return fresh constant registers."""
        if len(self.constants) + len(values) > BANK_SIZES[RegisterBank.CONSTANT]:
            raise InputError(
                Fault(f"there are {BANK_SIZES[RegisterBank.CONSTANT]} constant registers, no more", token.place)
            )
        self.constants += values
        return Named(RegisterBank.CONSTANT, len(self.constants) - len(values), len(values), array)

    def literal(self, value: Constant, token: SourceToken) -> Named:
        """Return the register of an unnamed constant; equal ones share it."""
        key = struct.pack("<4f", *value)
        if key not in self._literals:
            self._literals[key] = self.add_constants([value], token).number
        return Named(RegisterBank.CONSTANT, self._literals[key])


def read_binding(tokens: ProgramTokens, stage: ShaderStage) -> Named | None:
    """Read a binding such as `fragment.texcoord[1]`; None if the next tokens are not one."""
    first = tokens.peek()
    if first not in ("vertex", "fragment", "result") or tokens.peek(1) != ".":
        return None
    token = tokens.take("a binding")
    if first != "result" and first != stage.value:
        raise tokens.fault(f"a {stage.value} program knows no {first} attributes", None, token)
    bank = RegisterBank.OUTPUT if first == "result" else RegisterBank.INPUT
    simple, numbered = _SIMPLE[stage, bank], _NUMBERED[stage, bank]
    tokens.expect(".", f"and the name of an attribute of {first}")
    word = tokens.word("the name of an attribute")
    if word.text in numbered:
        start, most = numbered[word.text]
        at = 0
        if tokens.accept("["):
            at = tokens.whole("a number", most)
            tokens.expect("]", "after the number")
        return Named(bank, start + at)
    name = word.text
    while tokens.peek() == "." and f"{name}.{tokens.peek(1)}" in simple:
        tokens.expect(".", "")
        name += "." + tokens.take("a name").text
    if name not in simple:
        allowed = [*simple, *(f"{each}[n]" for each in numbered)]
        near = nearest(name, [*simple, *numbered])
        hint = (f"did you mean {first}.{near}? " if near else "") + f"allowed: {', '.join(allowed)}"
        raise tokens.fault(f"there is no {first}.{name} in a {stage.value} program", hint, word)
    return Named(bank, simple[name])


def read_constants(tokens: ProgramTokens) -> list[Constant]:
    """Read one constant: ``{ 1, 2, 3, 4 }``, a number (in all components), or ``program.local[n]``.

    Scenes set no parameters of programs, so these are 0 as in a new GL context; ``[n..m]`` reads several.
    """
    if tokens.accept("{"):
        values = [tokens.number()]
        while tokens.accept(","):
            values.append(tokens.number())
        tokens.expect("}", "after at most four numbers")
        if len(values) > 4:
            raise tokens.fault("a constant has four components")
        values += [0.0, 0.0, 0.0, 1.0][len(values) :]
        return [(values[0], values[1], values[2], values[3])]
    if tokens.peek() == "program":
        tokens.take("program")
        tokens.expect(".", "and local or env")
        word = tokens.word("local or env")
        if word.text not in ("local", "env"):
            raise tokens.fault(f"there is no program.{word.text}", "allowed: program.local[n], program.env[n]", word)
        tokens.expect("[", "and a number")
        low = high = tokens.whole("a number", _LOCAL)
        if tokens.accept(".."):
            high = tokens.whole("the last number", _LOCAL)
        tokens.expect("]", "after the number")
        if high < low:
            raise tokens.fault(f"{low}..{high} names nothing", None, word)
        return [(0.0, 0.0, 0.0, 0.0)] * (high - low + 1)
    if tokens.peek() == "state":
        raise tokens.fault("scenes have no state of GL", "write the constant as { x, y, z, w }")
    value = tokens.number()
    return [(value, value, value, value)]


# Order of instructions in a loaded program: independent ones fill the latencies of others.
#
# The rule is derived from programs loaded by the authors' public simulator, as no description gives it: of the
# instructions whose predecessors have been placed, those come first whose operands are ready by then (an instruction a
# cycle, latencies as declared); among these the one whose result most instructions read; among these the first of the
# text.


def order_of(instructions: Sequence[Instruction]) -> list[int]:
    """Return the numbers of the instructions in loaded order."""
    count = len(instructions)
    producers, before = _dependences(instructions)
    readers = [sum(number in each for each in producers) for number in range(count)]
    ready = [0] * count
    order: list[int] = []
    left = list(range(count))
    for cycle in range(count):
        free = [number for number in left if not before[number] & set(left)]
        chosen = min(free, key=lambda each: (max(0, ready[each] - cycle), -readers[each], each))
        order.append(chosen)
        left.remove(chosen)
        declaration = instructions[chosen].declaration
        assert isinstance(declaration, ShaderDeclaration)
        for number in left:
            if chosen in producers[number]:
                ready[number] = max(ready[number], cycle + declaration.latency + 1)
    return order


def _dependences(instructions: Sequence[Instruction]) -> tuple[list[set[int]], list[set[int]]]:
    """Return, for each instruction, the producers of its operands, and all those that it must follow."""
    reads = [_reads(each) for each in instructions]
    writes = [_written(each) for each in instructions]
    producers: list[set[int]] = []
    before: list[set[int]] = []
    for number in range(len(instructions)):
        wanted = set(reads[number])
        made: set[int] = set()
        after: set[int] = set()
        for earlier in range(number - 1, -1, -1):
            written = writes[earlier]
            if written in wanted:
                made.add(earlier)
                if _is_whole(instructions[earlier]):
                    wanted.discard(written)
            if written is not None and (written == writes[number] or written in reads[number]):
                after.add(earlier)
            if writes[number] is not None and writes[number] in reads[earlier]:
                after.add(earlier)
        producers.append(made)
        before.append(made | after)
    return producers, before


def _is_whole(instruction: Instruction) -> bool:
    written = destination_of(instruction)
    return written is not None and written.is_whole


def _reads(instruction: Instruction) -> set[int]:
    registers = {register_id(each.bank, each.number) for each in sources_of(instruction)}
    if any(each.relative for each in sources_of(instruction)):
        registers.add(ADDRESS_REGISTER)
    return {each for each in registers if each >> 8 != RegisterBank.CONSTANT}


def _written(instruction: Instruction) -> int | None:
    written = destination_of(instruction)
    return None if written is None else register_id(written.bank, written.number)


# Statements of ARB programs: declarations, and instructions with their operands.


DECLARATIONS = ("TEMP", "PARAM", "ATTRIB", "OUTPUT", "ADDRESS", "ALIAS", "OPTION")
SATURATES = "_SAT"
_LETTERS = {**dict(zip("xyzw", range(COMPONENTS), strict=True)), **dict(zip("rgba", range(COMPONENTS), strict=True))}
_TARGETS = ("1D", "3D", "CUBE", "RECT")
_HINTS = ("ARB_precision_hint_fastest", "ARB_precision_hint_nicest")
_RELATIVE = 255
_ABSENT = {
    "FLR": "FRC, and ADD with a minus",
    "LRP": "ADD with a minus, then MAD",
    "POW": "LG2, MUL, EX2",
    "XPD": "MUL and MAD of swizzled operands",
    "SCS": "COS to .x, SIN to .y",
    "SWZ": "a swizzle of the operand, and its sign",
}
"""Instructions of ARB programs that the machine lacks, and replacements."""


def read_declaration(tokens: ProgramTokens, names: ProgramNames) -> None:
    """Execute a declaration; raises InputError."""
    kind = tokens.word("a declaration").text
    if kind == "OPTION":
        option = tokens.word("an option")
        if option.text not in _HINTS:
            raise tokens.fault(f"option {option.text} is not known here", f"allowed: {', '.join(_HINTS)}", option)
        return tokens.end()
    while True:
        token = tokens.word("a name")
        _declare(kind, token, tokens, names)
        if kind not in ("TEMP", "ADDRESS") or not tokens.accept(","):
            break
    return tokens.end()


def _declare(kind: str, token: SourceToken, tokens: ProgramTokens, names: ProgramNames) -> None:
    if kind == "TEMP":
        names.declare(token, names.temporary(token))
    elif kind == "ADDRESS":
        if names.stage is not ShaderStage.VERTEX:
            raise tokens.fault("only vertex programs have an address register", None, token)
        if any(each.bank is RegisterBank.ADDRESS for each in names.known.values()):
            raise tokens.fault("there is one address register", None, token)
        names.declare(token, Named(RegisterBank.ADDRESS, 0))
    elif kind == "PARAM":
        _parameter(token, tokens, names)
    elif kind == "ALIAS":
        tokens.expect("=", "between two names")
        names.declare(token, names.find(tokens.word("a name")))
    else:
        tokens.expect("=", "and a binding")
        bank = RegisterBank.INPUT if kind == "ATTRIB" else RegisterBank.OUTPUT
        found = read_binding(tokens, names.stage)
        if found is None or found.bank is not bank:
            raise tokens.fault("a binding such as " + ("vertex.position" if kind == "ATTRIB" else "result.color"))
        names.declare(token, found)


def _parameter(token: SourceToken, tokens: ProgramTokens, names: ProgramNames) -> None:
    array, size = tokens.accept("["), None
    if array:
        if tokens.peek() != "]":
            size = tokens.whole("a size", _RELATIVE + 1)
        tokens.expect("]", "after the size")
    tokens.expect("=", "and a value")
    if array:
        tokens.expect("{", "before the values of an array")
        values = read_constants(tokens)
        while tokens.accept(","):
            values += read_constants(tokens)
        tokens.expect("}", "after the values of an array")
        if size is not None and size != len(values):
            raise tokens.fault(f"{token.text} has {size} elements, {len(values)} values are given", None, token)
    else:
        values = read_constants(tokens)
    names.declare(token, names.add_constants(values, token, array=array))


def read_instruction(tokens: ProgramTokens, names: ProgramNames) -> Instruction:
    """Read an instruction; raises InputError with the nearest known mnemonic or the allowed operand."""
    token = tokens.word("an instruction")
    mnemonic, saturate = token.text, False
    if mnemonic.endswith(SATURATES) and names.stage is ShaderStage.FRAGMENT:
        mnemonic, saturate = mnemonic.removesuffix(SATURATES), True
    negated = mnemonic == "SUB"
    bars = mnemonic == "ABS"
    mnemonic = {"SUB": "ADD", "ABS": "MOV"}.get(mnemonic, mnemonic)
    declaration = INSTRUCTIONS.get(mnemonic)
    if declaration is None:
        if mnemonic in _ABSENT:
            raise tokens.fault(f"the machine has no {mnemonic}", f"write {_ABSENT[mnemonic]}", token)
        hint = suggestion(mnemonic, [*INSTRUCTIONS, *DECLARATIONS], "pixelflow isa --machine attila lists all")
        raise tokens.fault(f"unknown instruction {token.text}", hint, token)
    if names.stage not in declaration.stages:
        raise tokens.fault(f"a {names.stage.value} program has no {mnemonic}", None, token)
    operands: list[Operand] = []
    for position, spec in enumerate(declaration.operands):
        if position:
            tokens.expect(",", f"before operand {position + 1}: {declaration.synopsis}")
        if spec is DST:
            operands.append(_destination(tokens, names, saturate=saturate, address=mnemonic == "ARL"))
        elif spec is SAMPLER:
            operands.append(_unit(tokens))
        else:
            operands.append(_source(tokens, names, declaration))
    tokens.end()
    last = operands[-1]
    if negated and isinstance(last, ShaderSource):
        operands[-1] = _with(last, negate=not last.negate, absolute=last.absolute)
    if bars and isinstance(last, ShaderSource):
        operands[-1] = _with(last, negate=False, absolute=True)
    try:
        return INSTRUCTIONS.make(mnemonic, *operands)
    except ValueError as error:
        raise tokens.fault(str(error), None, token) from None


def _with(source: ShaderSource, *, negate: bool, absolute: bool) -> ShaderSource:
    return ShaderSource(source.bank, source.number, source.swizzle, negate, absolute, source.relative)


def _destination(tokens: ProgramTokens, names: ProgramNames, *, saturate: bool, address: bool) -> ShaderDestination:
    token = tokens.here
    found = read_binding(tokens, names.stage) or names.find(tokens.word("a register to write"))
    if found.bank in (RegisterBank.INPUT, RegisterBank.CONSTANT):
        raise tokens.fault(f"{token.text if token else ''} cannot be written", "temporaries and results can", token)
    if address != (found.bank is RegisterBank.ADDRESS):
        raise tokens.fault("the address register is written by one instruction, and that writes nothing else")
    mask = ALL
    if tokens.accept("."):
        word = tokens.word("a write mask")
        letters = [_LETTERS.get(letter, -1) for letter in word.text]
        if -1 in letters or letters != sorted(set(letters)):
            raise tokens.fault(f".{word.text} is not a write mask", "components of xyzw in order, such as .xz", word)
        mask = sum(1 << letter for letter in letters)
    return ShaderDestination(found.bank, found.number, mask, saturate)


def _source(tokens: ProgramTokens, names: ProgramNames, declaration: ShaderDeclaration) -> ShaderSource:
    minus = tokens.accept("-")
    if not minus:
        tokens.accept("+")
    bars = tokens.accept("|")
    token = tokens.here
    named, relative, number = _register(tokens, names)
    swizzle = (0, 1, 2, 3)
    if tokens.accept("."):
        word = tokens.word("a swizzle")
        letters = [_LETTERS.get(letter, -1) for letter in word.text]
        if -1 in letters or len(letters) not in (1, COMPONENTS):
            raise tokens.fault(
                f".{word.text} is not a swizzle", "one component of xyzw or four, such as .x or .wzyx", word
            )
        if len(letters) == 1:
            letters *= COMPONENTS
        swizzle = (letters[0], letters[1], letters[2], letters[3])
    elif declaration.scalar:
        raise tokens.fault(f"{declaration.mnemonic} reads one component", "write which: .x, .y, .z or .w", token)
    if bars:
        tokens.expect("|", "after an absolute value")
    if named.bank is RegisterBank.OUTPUT:
        raise tokens.fault("results cannot be read", "put the value into a temporary first", token)
    if named.bank is RegisterBank.ADDRESS:
        raise tokens.fault("the address register is allowed in brackets only", None, token)
    return ShaderSource(named.bank, number, swizzle, minus, bars, relative)


def _register(tokens: ProgramTokens, names: ProgramNames) -> tuple[Named, bool, int]:
    """Read a source register: its name, whether an address is added, its number."""
    token = tokens.here
    if token is None:
        raise tokens.fault("the statement ends here: a register to read is missing")
    bound = read_binding(tokens, names.stage)
    if bound is not None:
        return bound, False, bound.number
    if token.kind == "number" or token.text in ("{", "program", "state"):
        found = names.literal(read_constants(tokens)[0], token)
        return found, False, found.number
    named = names.find(tokens.word("a register to read"))
    if not named.array:
        return named, False, named.number
    tokens.expect("[", f"and an index of {token.text}")
    if tokens.peek().isdigit():
        number = tokens.whole("an index", named.count - 1)
        tokens.expect("]", "after the index")
        return named, False, named.number + number
    register = tokens.word("an index or the address register")
    if names.find(register).bank is not RegisterBank.ADDRESS:
        raise tokens.fault(f"{register.text} is not an address register", None, register)
    tokens.expect(".", "and x")
    if tokens.word("x").text != "x":
        raise tokens.fault("the address register has the component x only", None, register)
    offset = 0
    if tokens.peek() in ("+", "-"):
        minus = tokens.take("a sign").text == "-"
        offset = tokens.whole("an offset", 63)
        offset = -offset if minus else offset
    tokens.expect("]", "after the index")
    if named.number + offset < 0:
        raise tokens.fault(f"an offset of {offset} is before the first constant", None, register)
    return named, True, named.number + offset


def _unit(tokens: ProgramTokens) -> TextureOperand:
    token = tokens.here
    if tokens.peek() != "texture":
        raise tokens.fault("texture[n] is wanted here")
    tokens.take("texture")
    number = 0
    if tokens.accept("["):
        number = tokens.whole("a texture unit", 15)
        tokens.expect("]", "after the texture unit")
    tokens.expect(",", "and 2D")
    target = tokens.take("2D")
    if target.text != "2D":
        hint = "2D textures are what is built" if target.text in _TARGETS else "allowed: 2D"
        raise tokens.fault(f"a target {target.text}", hint, target)
    assert token is not None
    return TextureOperand(number)


# Programs for the shader, and the target of the assembler.


HEADERS = {"!!ARBvp1.0": ShaderStage.VERTEX, "!!ARBfp1.0": ShaderStage.FRAGMENT}
_REGISTER_BYTES = 16
_CONSTANT_BYTES = BANK_SIZES[RegisterBank.CONSTANT] * _REGISTER_BYTES


class ShaderProgram(AssembledProgram):
    """A vertex or fragment program; its data are constants, register n at byte 16 n."""

    instruction_set: ClassVar[InstructionSet[Declaration]] = INSTRUCTIONS
    schema: ClassVar[str] = "attila.program/1"
    stream: ClassVar[str] = ShaderStage.FRAGMENT.value

    @property
    def stage(self) -> ShaderStage:
        """Kind of input that it shades."""
        return ShaderStage(next(iter(self.entries)))

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """Constants, beginning with register 0."""
        packed = b"".join(bytes(block.values) for block in self.data)
        return tuple(struct.iter_unpack("<4f", packed))

    @property
    def loaded_text(self) -> list[str]:
        """Loaded instructions, the last one marked as the end."""
        lines = [instruction_text(each) for each in self.instructions]
        return [*lines[:-1], *(f"{line} <- end" for line in lines[-1:])]


def instruction_text(instruction: Instruction) -> str:
    """Return an instruction as text: ``mad r0, r0, c0.w, i1``."""
    operands = ", ".join(str(each) for each in instruction.operands)
    saturated = any(getattr(each, "saturate", False) for each in instruction.operands)
    return f"{instruction.mnemonic.lower()}{'_sat' if saturated else ''} {operands}"


class _Language:
    """The text of ARB programs 1.0."""

    def assemble(self, text: str, file: str, name: str) -> ShaderProgram:
        """Return the program of a source text; raises InputError with every fault."""
        faults: list[Fault] = []
        found: list[tuple[Instruction, SourceToken]] = []
        names, ended = None, None
        for tokens in statements_of(text, file):
            first = tokens[0]
            try:
                if names is None:
                    names = ProgramNames(_stage(first))
                elif ended is not None:
                    raise InputError(Fault("text after END", first.place))
                elif first.text == "END":
                    ended = first
                elif first.text in DECLARATIONS:
                    read_declaration(ProgramTokens(tokens), names)
                else:
                    found.append((read_instruction(ProgramTokens(tokens), names), first))
            except InputError as error:
                faults += error.faults
                if names is None:
                    break
        if not faults and ended is None:
            faults.append(Fault("a program ends with END", Place(file)))
        if not faults and not found:
            faults.append(Fault("the program has no instruction", Place(file)))
        if faults or names is None:
            raise InputError(faults)
        return _built(names, found, name)

    def text(self, program: AssembledProgram) -> str:
        """Return a loaded program as text, an instruction a line."""
        lines = program.loaded_text if isinstance(program, ShaderProgram) else []
        return "".join(f"{line}\n" for line in lines)

    def warnings(self, program: AssembledProgram) -> Iterable[str]:
        """Return nothing: doubtful programs are refused."""
        return []


def _stage(token: SourceToken) -> ShaderStage:
    found = HEADERS.get(token.text)
    if found is None:
        raise InputError(
            Fault(f"a program does not begin with {token.text}", token.place, f"allowed: {', '.join(HEADERS)}")
        )
    return found


def _built(names: ProgramNames, found: list[tuple[Instruction, SourceToken]], name: str) -> ShaderProgram:
    order = order_of([instruction for instruction, _ in found])
    lines, line_of = origins(token for _, token in found)
    packed = b"".join(struct.pack("<4f", *each) for each in names.constants)
    return ShaderProgram(
        words=tuple(word for at in order for word in found[at][0].encode()),
        name=name,
        entries={names.stage.value: 0},
        data=(DataBlock(0, tuple(packed)),) if packed else (),
        lines=lines,
        line_of=tuple(line_of[at] for at in order),
    )


TARGET = ProgramTarget(
    instructions=INSTRUCTIONS,
    names={},
    streams=(ShaderStage.FRAGMENT.value, ShaderStage.VERTEX.value),
    halt="MOV",
    owner="the constants",
    memory_bytes=_CONSTANT_BYTES,
    placed_bytes=_CONSTANT_BYTES,
    alignment=_REGISTER_BYTES,
    program=ShaderProgram,
    manual="pixelflow isa --machine attila",
    language=_Language(),
    folders=(packaged.shipped("attila_bridge", "scenes"),),
)


def assemble_shader(text: str, name: str = "program", file: str = "<text>") -> ShaderProgram:
    """Assemble the text of an ARB program; raises InputError with every fault."""
    return _Language().assemble(text, file, name)
