"""Random instructions that the rules allow, as values and as sources; random registers for units and interpreter."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable

import numpy as np

from gen6_bridge.isa.declarations import INSTRUCTIONS, EuInstruction
from gen6_bridge.isa.execution import A0, ACC_FLOAT, ACC_HIGH, ACC_LOW, CHANNELS, MRF
from gen6_bridge.isa.legality import broken_rules
from gen6_bridge.isa.operands import (
    Controls,
    EuDestination,
    EuType,
    File,
    ImmediateOperand,
    IndirectAddress,
    Source,
    SourceRegion,
)
from gen6_bridge.unit import ExecutionUnit
from tests.gen6.scalar import Step, Thread

INTEGERS = (EuType.UD, EuType.D, EuType.UW, EuType.W, EuType.UB, EuType.B)
UNARY, ROUNDING = ("mov", "not", "lzd"), ("frc", "rndu", "rndd", "rnde", "rndz")
BINARY = ("sel", "and", "or", "xor", "shr", "shl", "asr", "cmp", "cmpn", "add", "mul", "avg", "mac", "mach")
LOGIC = ("not", "and", "or", "xor")
"""They have no modifiers."""
FLOATS, DOTS, THREE = ("sel", "cmp", "cmpn", "add", "mul", "mac"), ("dp4", "dph", "dp3", "dp2"), ("mad", "lrp")
KINDS = ((UNARY, 2), (ROUNDING, 1), (BINARY, 6), (FLOATS, 4), (DOTS, 1), (("line", "pln"), 1), (THREE, 1))
BYTE_ADDRESSES = (640, 704, 960, 1004, 1100, 1201, 1312, 1504)
"""Values of the address registers."""
HIGHEST = 120
_F = EuType.F


class Instructions:
    """A source of random legal instructions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.tried = 0

    def one(self) -> EuInstruction:
        """Return an instruction that breaks no rule."""
        while True:
            self.tried += 1
            found = self._any()
            if found is not None and not broken_rules(found) and self._within_accumulator(found):
                return found

    def _within_accumulator(self, instruction: EuInstruction) -> bool:
        """Return whether an instruction implies no element past the accumulator, where it implies any."""
        step = Step(Thread(), instruction.whole)
        implies = instruction.controls.accumulates or instruction.declaration.mnemonic in ("mac", "mach")
        return not implies or step.implied(min(instruction.controls.size, CHANNELS - step.word.first) - 1) < CHANNELS

    def _any(self) -> EuInstruction | None:
        source = self.random
        (names,) = source.choices([names for names, _ in KINDS], [weight for _, weight in KINDS])
        name = source.choice(names)
        floats = (
            names in (ROUNDING, FLOATS, DOTS, THREE)
            or name in ("line", "pln")
            or (name == "mov" and source.random() < 0.4)
        )
        wide = names in (DOTS, THREE) or (source.random() < 0.08 and name not in ("line", "pln"))
        size = source.choice((8, 16, 4) if wide else (1, 2, 4, 8, 8, 8, 16, 16))
        if name == "pln":
            size = source.choice((8, 16))
        condition, predicate = self._condition(name), self._predicate(wide)
        controls = Controls(
            align16=int(wide), all_channels=int(source.random() < 0.2), size_code=size.bit_length() - 1,
            quarter=source.randrange(2) if size <= 8 else 0, flag=source.randrange(2) if condition or predicate else 0,
            saturates=int(source.random() < 0.25 and name not in ("cmp", "cmpn")),
            selector=condition, accumulates=int(source.random() < 0.15 or name == "mach"),
            **predicate,
        )  # fmt: skip
        declaration = INSTRUCTIONS[name]
        if names is THREE:
            operands = [self._three_destination(), *(self._three() for _ in range(3))]
        else:
            first = self._type(floats)
            types = [first, first if floats else self._type(floats)]
            if name == "mach":
                types = [source.choice((EuType.D, EuType.UD))] * 2
            operands = [self._destination(wide, size, types), self._source(name, wide, size, types[0])]
            if declaration.mnemonic not in (*UNARY, *ROUNDING):
                operands.append(self._source(name, wide, size, types[1], second=True))
            elif source.random() < 0.15:
                operands[1] = self._immediate(types[0])
        found = EuInstruction(declaration, (controls, *operands))
        found.encode()
        return found

    def _condition(self, name: str) -> int:
        if name in ("cmp", "cmpn"):
            return self.random.choice((1, 2, 3, 4, 5, 6, 9))
        if name == "sel" or self.random.random() < 0.25:
            return self.random.choice((0, 1, 2, 3, 4, 5, 6))
        return 0

    def _predicate(self, wide: bool) -> dict[str, int]:
        if self.random.random() < 0.65:
            return {}
        return {"predicate": self.random.randint(1, 7 if wide else 11), "inverse": self.random.randrange(2)}

    def _type(self, floats: bool) -> EuType:
        return _F if floats else self.random.choice(INTEGERS)

    def _register(self) -> int:
        return self.random.randrange(10, HIGHEST)

    def _destination(self, wide: bool, size: int, types: list[EuType]) -> EuDestination:
        source = self.random
        kind = source.choice((*INTEGERS, _F, types[0], types[0], EuType.D))
        stride = 1 if wide else source.choice((1, 1, 2, 4))
        mask = source.choice((15, 15, 5, 8, 6)) if wide else None
        where = source.random()
        if where < 0.05:
            return EuDestination(File.ARCHITECTURE, kind, 0, 0, 1, mask)
        if where < 0.10 and not wide and size == 8 and kind.size == 4:
            return EuDestination(File.ARCHITECTURE, kind, 0x20, 0, 1)
        if where < 0.15 and not wide:
            address = IndirectAddress(source.randrange(8), source.randrange(-256, 256, 32))
            return EuDestination(File.GENERAL, kind, 0, 0, stride, mask, address)
        if where < 0.22:
            return EuDestination(File.MESSAGE, kind, source.randrange(20), 0, stride, mask)
        sub = (
            16 * source.randrange(2)
            if wide
            else kind.size * source.choice((0, 0, 0, source.randrange(32 // kind.size)))
        )
        return EuDestination(File.GENERAL, kind, self._register(), sub, stride, mask)

    def _source(self, name: str, wide: bool, size: int, kind: EuType, *, second: bool = False) -> Source:
        source = self.random
        signs = {"absolute": int(source.random() < 0.15), "negate": int(source.random() < 0.2)}
        if name in LOGIC:
            signs = {}
        if name in ("line", "pln") and not second:
            return SourceRegion(File.GENERAL, kind, self._register(), 16 * source.randrange(2), 0, 1, 0)
        if name == "pln":
            return SourceRegion(File.GENERAL, kind, self._register(), 0, 8, 8, 1)
        if second and source.random() < 0.2:
            return self._immediate(kind)
        if wide:
            swizzle = tuple(source.choice(((0, 1, 2, 3), [source.randrange(4) for _ in range(4)])))
            sub = 16 * source.randrange(2)
            return SourceRegion(
                File.GENERAL, kind, self._register(), sub, source.choice((0, 4)), 4, 1, **signs, swizzle=swizzle
            )  # type: ignore[arg-type]
        width = source.choice([each for each in (1, 2, 4, 8, 16) if each <= size])
        across = 0 if width == 1 else source.choice((1, 1, 0, 2, 4))
        down = width * across if width == size or source.random() < 0.6 else source.choice((0, 1, 2, 4, 8, 16, 32))
        if width == size == 1:
            down = 0
        if down not in (0, 1, 2, 4, 8, 16, 32):
            down = 32
        sub = kind.size * source.choice((0, 0, 0, source.randrange(32 // kind.size)))
        if kind.size == 4 and source.random() < 0.04 and size == 8 and not second:
            return SourceRegion(File.ARCHITECTURE, kind, 0x20, 0, 8, 8, 1, **signs)
        if source.random() < 0.08:
            rows = size // width
            if source.random() < 0.5 and rows <= 8:
                address = IndirectAddress(source.randrange(9 - rows), source.randrange(-200, 200))
                return SourceRegion(File.GENERAL, kind, 0, 0, 1 << 14, width, across, **signs, address=address)
            address = IndirectAddress(source.randrange(8), source.randrange(-512, 512))
            return SourceRegion(File.GENERAL, kind, 0, 0, down, width, across, **signs, address=address)
        return SourceRegion(File.GENERAL, kind, self._register(), sub, down, width, across, **signs)

    def _immediate(self, kind: EuType) -> ImmediateOperand:
        source = self.random
        if kind is _F:
            if source.random() < 0.2:
                return ImmediateOperand(EuType.VF, source.getrandbits(32))
            return ImmediateOperand(_F, random_float(source))
        if source.random() < 0.15:
            return ImmediateOperand(EuType.V, source.getrandbits(32))
        kind = kind if kind.size > 1 else EuType.W
        bits = source.choice((source.getrandbits(8 * kind.size), source.randrange(40)))
        return ImmediateOperand(kind, bits | bits << 16 if kind.size == 2 else bits)

    def _three_destination(self) -> EuDestination:
        return EuDestination(File.GENERAL, _F, self._register(), 0, 1, self.random.choice((15, 15, 3, 10)))

    def _three(self) -> SourceRegion:
        source = self.random
        swizzle = (source.randrange(4), source.randrange(4), source.randrange(4), source.randrange(4))
        replicate = int(source.random() < 0.2)
        sub = 4 * source.randrange(8) if replicate else 0
        return SourceRegion(File.GENERAL, _F, self._register(), sub, 4, 4, 1, source.randrange(2), source.randrange(2),
                            swizzle if source.random() < 0.5 else (0, 1, 2, 3), replicate=replicate)  # fmt: skip


def random_float(source: random.Random) -> int:
    """Return the bits of a float: mostly of a common size, some whole, a few special or of any bits."""
    kind = source.random()
    if kind < 0.1:
        return source.choice((0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 1, 0x80000001, 0x3F000000))
    if kind < 0.2:
        return source.getrandbits(32)
    value = source.randint(-1000, 1000) / 2 if kind < 0.5 else source.uniform(-1, 1) * 2.0 ** source.randint(-20, 20)
    found: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return found


def fill(unit: ExecutionUnit, seed: int) -> None:
    """Give a unit of one or more threads random registers, flags, and accumulators; every third one holds floats."""
    source = random.Random(seed)
    numbers = np.random.default_rng(seed)
    unit.general[:] = numbers.integers(0, 256, unit.general.shape, np.uint8)
    for thread in range(unit.threads):
        for register in range(0, 128, 3):
            words = np.array([random_float(source) for _ in range(8)], np.uint32)
            unit.general[thread, register] = words.view(np.uint8)
    unit.memory.data[:, A0 : A0 + 16] = np.array(BYTE_ADDRESSES, np.uint16).view(np.uint8)
    unit.set_flags(numbers.integers(0, 1 << 32, unit.threads))


def thread_of(unit: ExecutionUnit, thread: int = 0) -> Thread:
    """Return what a thread of a unit holds, for the interpreter."""
    rows = {
        name: unit.lanes.get_word(name).reshape(-1, CHANNELS)[thread].tolist()
        for name in (ACC_LOW, ACC_HIGH, ACC_FLOAT)
    }
    return Thread(
        bytearray(unit.general[thread].tobytes()),
        bytearray(unit.memory.data[thread, MRF : MRF + 768].tobytes()),
        unit.addresses[thread].tolist(),
        int(unit.flags[thread]),
        [low | high << 32 for low, high in zip(rows[ACC_LOW], rows[ACC_HIGH], strict=True)],
        rows[ACC_FLOAT],
    )


# --- as a source ------------------------------------------------------------------------------------------------------

_ALIGN1 = ("", "", "anyv", "allv", "any2h", "all2h", "any4h", "all4h", "any8h", "all8h", "any16h", "all16h")
_ALIGN16 = ("", "", "x", "y", "z", "w", "any4h", "all4h")
_CONDITIONS = ("", "e", "ne", "g", "ge", "l", "le", "r", "o", "u")
_OPTIONS = {"align16": "align16", "all_channels": "mask_disable", "quarter": "sechalf", "accumulates": "accwrctrl"}


def source_of(instruction: EuInstruction) -> str | None:
    """Return an instruction in the public assembler's syntax; None if it cannot be written (infinities, NaNs)."""
    controls = instruction.controls
    name = instruction.declaration.mnemonic
    text = ""
    if controls.predicate:
        known = (_ALIGN16 if controls.align16 else _ALIGN1)[controls.predicate]
        text = f"({'-' if controls.inverse else '+'}f0.{controls.flag}{'.' + known if known else ''}) "
    text += name
    if controls.selector:
        text += f".{_CONDITIONS[controls.selector]}"
        text += f".f0.{controls.flag}"
    text += ".sat" * controls.saturates + f" ({controls.size})"
    for operand in instruction.operands[1:]:
        shown = _operand(operand)
        if shown is None:
            return None
        text += " " + shown
    options = [name for field, name in _OPTIONS.items() if getattr(controls, field)]
    return f"{text} {{{', '.join(options or ['align1'])}}}"


def _operand(operand: object) -> str | None:
    match operand:
        case ImmediateOperand(EuType.F, bits):
            value = float(np.uint32(bits).view(np.float32))
            return f"{value:.9e}F" if np.isfinite(value) else None
        case ImmediateOperand(kind, bits):
            return f"{bits & (0xFFFF if kind.size == 2 and not kind.packed else 0xFFFFFFFF):d}{kind.name}"
        case EuDestination():
            if operand.null and operand.mask is not None:
                return None  # the public assembler has its own mask there
            letters = (
                ""
                if operand.mask in (None, 15)
                else "." + _letters(each for each in range(4) if operand.mask >> each & 1)
            )
            return f"{_place(operand)}<{operand.stride}>{letters}:{operand.type.name}"
        case SourceRegion():
            signs = "-" * operand.negate + "(abs)" * operand.absolute
            if operand.replicate:
                return f"{signs}{_place(operand)}<0,1,0>F" if operand.swizzle == (0, 1, 2, 3) else None
            if operand.swizzle is not None:
                region, letters = f"<{operand.vertical},4,1>", "." + _letters(operand.swizzle)
                return f"{signs}{_place(operand)}{region}{letters}:{operand.type.name}"
            across = f"{operand.width},{operand.horizontal}"
            region = f"<{across}>" if operand.vertical == 1 << 14 else f"<{operand.vertical};{across}>"
            return f"{signs}{_place(operand)}{region}{operand.type.name}"
    raise AssertionError(operand)


def _letters(channels: Iterable[int]) -> str:
    return "".join("xyzw"[each] for each in channels)


def _place(operand: EuDestination | SourceRegion) -> str:
    if operand.address is not None:
        return f"g[a0.{operand.address.index}, {operand.address.offset}]"
    if operand.null:
        return "null"
    if operand.file is File.ARCHITECTURE:
        return f"acc{operand.number & 1}.{operand.sub // operand.type.size}"
    return f"{'m' if operand.file is File.MESSAGE else 'g'}{operand.number}.{operand.sub // operand.type.size}"
