"""Names of ARB programs: registers that bindings stand for, and names that a program declares."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from attila_bridge.code.assembler.tokens import ProgramToken, ProgramTokens
from attila_bridge.code.isa.registers import BANK_SIZES, RegisterBank, ShaderStage
from pixelflow.simd.errors import Fault, InputError, nearest

__all__ = ["Constant", "Named", "ProgramNames", "read_binding"]

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
"""For each kind of binding with a number: the register of number 0, and the highest number."""
_LOCAL = 255


@dataclass(frozen=True, slots=True)
class Named:
    """What a name stands for: registers of a bank."""

    bank: RegisterBank
    number: int
    count: int = 1
    array: bool = False


@dataclass(slots=True)
class ProgramNames:
    """Everything that a program has declared so far."""

    stage: ShaderStage
    known: dict[str, Named] = field(default_factory=dict)
    constants: list[Constant] = field(default_factory=list)
    temporaries: int = 0
    _literals: dict[bytes, int] = field(default_factory=dict)

    def declare(self, token: ProgramToken, named: Named) -> None:
        """Give a name; raises InputError where it is taken."""
        if token.text in self.known:
            raise InputError(Fault(f"{token.text} is declared twice", token.place))
        self.known[token.text] = named

    def find(self, token: ProgramToken) -> Named:
        """Return what a name stands for; raises InputError with the nearest known one."""
        found = self.known.get(token.text)
        if found is None:
            near = nearest(token.text, [*self.known, "vertex", "fragment", "result", "program"])
            hint = f"did you mean {near}?" if near else f"declared: {', '.join(self.known) or 'nothing'}"
            raise InputError(Fault(f"unknown name {token.text}", token.place, hint))
        return found

    def temporary(self, token: ProgramToken) -> Named:
        """Return a fresh temporary register."""
        if self.temporaries == BANK_SIZES[RegisterBank.TEMPORARY]:
            raise InputError(Fault(f"there are {self.temporaries} temporary registers, no more", token.place))
        self.temporaries += 1
        return Named(RegisterBank.TEMPORARY, self.temporaries - 1)

    def add_constants(self, values: list[Constant], token: ProgramToken, *, array: bool = False) -> Named:
        """Return fresh constant registers."""
        if len(self.constants) + len(values) > BANK_SIZES[RegisterBank.CONSTANT]:
            raise InputError(
                Fault(f"there are {BANK_SIZES[RegisterBank.CONSTANT]} constant registers, no more", token.place)
            )
        self.constants += values
        return Named(RegisterBank.CONSTANT, len(self.constants) - len(values), len(values), array)

    def literal(self, value: Constant, token: ProgramToken) -> Named:
        """Return the register of a constant without a name; equal ones share it."""
        key = struct.pack("<4f", *value)
        if key not in self._literals:
            self._literals[key] = self.add_constants([value], token).number
        return Named(RegisterBank.CONSTANT, self._literals[key])


def read_binding(tokens: ProgramTokens, stage: ShaderStage) -> Named | None:
    """Read `vertex.position`, `fragment.texcoord[1]`, `result.color`; None where no binding stands here."""
    first = tokens.peek()
    if first not in ("vertex", "fragment", "result") or tokens.peek(1) != ".":
        return None
    token = tokens.take("a binding")
    if first != "result" and first != stage.value:
        raise tokens.fault(f"a {stage.value} program knows no {first} attributes", None, token)
    bank = RegisterBank.OUTPUT if first == "result" else RegisterBank.INPUT
    simple, numbered = _SIMPLE[stage, bank], _NUMBERED[stage, bank]
    tokens.expect(".", f"and the name of what {first} has")
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
    """Read one constant: ``{ 1, 2, 3, 4 }``, a number (in all components), ``program.local[n]``.

    Scenes set no parameters of programs, so these are 0 as at the start of a GL; several by ``[n..m]``.
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
        raise tokens.fault("state of GL is no part of scenes", "write the constant as { x, y, z, w }")
    value = tokens.number()
    return [(value, value, value, value)]
