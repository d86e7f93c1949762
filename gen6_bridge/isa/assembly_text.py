"""Text of an instruction, equal to what the public disassembler writes (intel-gen4disasm 1.27.1, generation 6).

Columns become single blanks, and a message is in the line of its `send`. The disassembler's quirks are kept: they say
nothing about the machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gen6_bridge.isa.encoding import FLAG, JUMP_FIELDS, TARGETS_FIELDS, WordKind, read_field
from gen6_bridge.isa.operands import (
    IDENTITY,
    VXH,
    Controls,
    EuDestination,
    EuType,
    File,
    ImmediateOperand,
    Source,
    SourceRegion,
)

CONDITIONS = ("", "e", "ne", "g", "ge", "l", "le", "r", "o", "u")
"""Condition modifiers, by code; 7 to 9 are r, o and u."""
PREDICATES = ("", "", "anyv", "allv", "any2h", "all2h", "any4h", "all4h", "any8h", "all8h", "any16h", "all16h")
PREDICATES_16 = ("", "", "x", "y", "z", "w", "any4h", "all4h")
FUNCTIONS = {
    1: "inv", 2: "log", 3: "exp", 4: "sqrt", 5: "rsq", 6: "sin", 7: "cos", 8: "sincos", 9: "tan", 10: "pow",
    11: "intdivmod", 12: "intdiv", 13: "intmod",
}  # fmt: skip
"""Functions of `math`, by code; the one of code 9 divides on this generation."""
TARGETS = {
    0: "null", 1: "math", 2: "sampler", 3: "gateway", 4: "sampler", 5: "render", 6: "urb", 7: "thread_spawner",
    9: "const", 10: "data",
}  # fmt: skip
RENDER_MESSAGES = {
    0: "OWORD block read", 1: "RT UNORM read", 2: "OWORD dual block read", 4: "media block read",
    5: "OWORD unaligned block read", 6: "DWORD scattered read", 7: "DWORD atomic write", 8: "OWORD block write",
    9: "OWORD dual block write", 10: "media block write", 11: "DWORD scattered write", 12: "RT write",
    13: "streamed VB write", 14: "RT UNORMc write",
}  # fmt: skip
URB_SWIZZLES = ("", "interleave", "transpose")
SWIZZLE_LETTERS = "xyzw"
_ARCHITECTURE = {
    0x10: "a", 0x20: "acc", 0x30: "f", 0x40: "mask", 0x50: "msd", 0x70: "sr", 0x80: "cr", 0x90: "n",
}  # fmt: skip
_DEPENDENCY = ("", "NoDDClr", "NoDDChk", "NoDDClr,NoDDChk")
_QUARTERS = ("1Q", "2Q", "3Q", "4Q")


class TextShape(NamedTuple):
    """Parts of an instruction that the public disassembler shows."""

    name: str
    destination: bool
    sources: int
    targets: str = ""
    """``jump`` (JIP alone), ``both`` (UIP, then JIP), ``offset`` (all of DW3), or nothing."""
    form: str = ""
    """``math``, ``send``, ``three``, ``nothing`` or, for all others, empty."""
    shows_flag: bool = True
    """True if the flag word is after a condition."""


def number_text(value: float) -> str:
    """Return a float as C's ``%g`` writes it."""
    if math.isnan(value):
        return "-nan" if math.copysign(1, value) < 0 else "nan"
    return f"{value:g}"


def _invalid(what: str, value: int) -> str:
    return f"*** invalid {what} value {value} "


def _register(file: File, number: int) -> tuple[str, bool]:
    """Return a register's name, and whether the operand's text ends there."""
    if file is File.ARCHITECTURE:
        group = number & 0xF0
        if group == 0:
            return "null", True
        if group == 0xA0:
            return "ip", True
        return (f"{_ARCHITECTURE[group]}{number & 15}", False) if group in _ARCHITECTURE else (f"ARF{number}", False)
    if file is File.MESSAGE:
        return f"m{number & 0x7F}", False
    return ("g" if file is File.GENERAL else "imm") + str(number), False


def _type(kind: EuType, what: str) -> str:
    return _invalid(what, 6) if kind is EuType.DF else kind.name


def _size(kind: EuType) -> int:
    return 4 if kind is EuType.DF else kind.size


def _mask(mask: int) -> str:
    letters = "".join(letter for at, letter in enumerate(SWIZZLE_LETTERS) if mask >> at & 1)
    return "" if mask == 15 else f".{letters}"


def _destination(operand: EuDestination, *, three: bool = False) -> str:
    kind = _type(operand.type, "dest reg encoding")
    if operand.address is not None:
        if operand.mask is not None:
            return "Indirect align16 address mode not supported"
        # The number of the address register is divided by the size of an element, as if it were a byte.
        index = operand.address.index // _size(operand.type)
        place = (f".{index}" if operand.address.index else "") + (
            f" {operand.address.offset}" if operand.address.offset else ""
        )
        return f"g[a0{place}]<{operand.stride}>{kind}"
    name, alone = _register(operand.file, operand.number)
    if alone:
        return name
    if operand.mask is not None:
        # One bit, which counts as one byte; of three sources it is the number of the element.
        sub = operand.sub // 4 if three else operand.sub // 16
        shown = sub if three else sub // _size(operand.type)
        return f"{name}{f'.{shown}' if sub else ''}<1>{_mask(operand.mask)}{kind}"
    sub_text = f".{operand.sub // _size(operand.type)}" if operand.sub else ""
    return f"{name}{sub_text}<{operand.stride}>{kind}"


def _swizzle(swizzle: tuple[int, ...]) -> str:
    if swizzle == IDENTITY:
        return ""
    letters = "".join(SWIZZLE_LETTERS[each] for each in swizzle)
    return "." + (letters[0] if len(set(swizzle)) == 1 else letters)


def _stride(stride: int) -> str:
    if stride == VXH:
        return "VxH"
    code = stride.bit_length()
    return str(stride) if code <= 6 else _invalid("vert stride", code)


def _source(operand: Source, *, three: bool = False) -> str:
    if isinstance(operand, ImmediateOperand):
        return _immediate(operand)
    signs = ("-" if operand.negate else "") + ("(abs)" if operand.absolute else "")
    swizzle = operand.swizzle
    if operand.address is not None:
        if swizzle is not None:
            return "Indirect align16 address mode not supported"
        address = operand.address
        place = (f".{address.index}" if address.index else "") + (f" {address.offset}" if address.offset else "")
        return f"{signs}g[a0{place}]{_region(operand)}{_type(operand.type, 'src reg encoding')}"
    name, alone = _register(operand.file, operand.number)
    if alone:
        return signs + name
    if three:
        sub = f".{operand.sub // 4}" if operand.sub else ""
        return f"{signs}{name}{sub}<4,1,1>F{_swizzle(swizzle or IDENTITY)}"
    if swizzle is not None:
        sub = f".{16 // _size(operand.type)}" if operand.sub else ""
        kind = _type(operand.type, "src da16 reg type")
        return f"{signs}{name}{sub}<{_stride(operand.vertical)},4,1>{_swizzle(swizzle)}{kind}"
    sub = f".{operand.sub // _size(operand.type)}" if operand.sub else ""
    return f"{signs}{name}{sub}{_region(operand)}{_type(operand.type, 'src reg encoding')}"


def _region(operand: SourceRegion) -> str:
    code = operand.width.bit_length() - 1
    width = str(operand.width) if code <= 4 else _invalid("width", code)
    return f"<{_stride(operand.vertical)},{width},{operand.horizontal}>"


def _immediate(operand: ImmediateOperand) -> str:
    match operand.type:
        case EuType.UD | EuType.V:
            return f"0x{operand.bits:08x}{operand.type.name}"
        case EuType.UW:
            return f"0x{operand.bits & 0xFFFF:04x}UW"
        case EuType.UV:
            # Written as a byte with a sign.
            low = operand.bits & 0xFF
            return f"0x{low | (0xFFFFFF00 if low & 0x80 else 0):02x}UB"
        case EuType.VF:
            return "Vector Float"
        case EuType.F:
            return f"{number_text(float(operand.value))}F"
    return f"{operand.value}{operand.type.name}"


def _message(word: int, target: int) -> str:
    function = word >> 96
    spaced = target in TARGETS
    text = TARGETS.get(target) or _invalid("target function", target)
    match target:
        case 2:
            fields = (function & 0xFF, function >> 8 & 15, function >> 12 & 15, function >> 16 & 3)
            text += " ({}, {}, {}, {})".format(*fields)
        case 4 | 5:
            kind = function >> 13 & 15
            fields = (function & 0xFF, function >> 8 & 31, kind, function >> 17 & 1)
            name = RENDER_MESSAGES.get(kind, _invalid("DP rc message type", kind))
            shown = f" {name}," if target == 5 else ""
            text += f" ({shown}" + (" " if shown else "") + "{}, {}, {}, {})".format(*fields)
        case 6:
            swizzle = function >> 10 & 3
            words = [
                *(["urb_write"] if function & 15 == 0 else ["ff_sync"] if function & 15 == 1 else []),
                *([URB_SWIZZLES[swizzle]] if 0 < swizzle < 3 else []),
                *(word for at, word in ((13, "allocate"), (14, "used"), (15, "complete")) if function >> at & 1),
            ]
            text += f" {function >> 4 & 63}"
            if function & 15 > 1:
                text += _invalid("urb opcode", function & 15)
            text += "".join(f" {word}" for word in words)
        case 7:
            pass
        case 10:
            text += f" ({function & 0xFF}, {function >> 8 & 63}, {function >> 14 & 15})"
        case _:
            text += f"unsupported target {target}"
    return f"{text}{' ' if spaced else ''}mlen {function >> 25 & 15} rlen {function >> 20 & 31}"


def _options(controls: Controls, *, ends: bool) -> str:
    words = ["align16" if controls.align16 else "align1", "WE_all" if controls.all_channels else "WE_normal"]
    words.append(_DEPENDENCY[controls.dependency])
    if controls.size == 8:
        words.append(_QUARTERS[controls.quarter])
    elif controls.size == 16:
        words.append("1H" if controls.quarter < 2 else "2H")
    text = " ".join(filter(None, words))
    if controls.thread:
        text += " switch" if controls.thread == 2 else _invalid("thread control", controls.thread).rstrip()
    return " ".join(["{", text, *["AccWrEnable"] * controls.accumulates, *["EOT"] * ends, "}"])


def _predicate(controls: Controls, flag: int) -> str:
    if not controls.predicate:
        return ""
    known: Sequence[str] = PREDICATES_16 if controls.align16 else PREDICATES
    mode = "align16" if controls.align16 else "align1"
    group = known[controls.predicate] if controls.predicate < len(known) else None
    shown = _invalid(f"predicate control {mode}", controls.predicate) if group is None else f".{group}" if group else ""
    return f"({'-' if controls.inverse else '+'}f0{'.1' if flag else ''}{shown}) "


def instruction_text(
    word: int,
    shape: TextShape,
    controls: Controls,
    destination: WordKind[EuDestination],
    sources: Sequence[WordKind[Source] | WordKind[SourceRegion]],
) -> str:
    """Return the text of an instruction word, with operands of these kinds."""
    # The flag word is looked for in the same bit whatever the instruction.
    flag = read_field(word, FLAG)
    text = _predicate(controls, flag) + shape.name
    text += ".sat" * controls.saturates + ".breakpoint" * controls.breakpoint
    if shape.form == "math":
        text += " " + FUNCTIONS.get(controls.selector, _invalid("function", controls.selector))
    elif shape.form != "send" and controls.selector:
        known = controls.selector < len(CONDITIONS)
        text += f".{CONDITIONS[controls.selector]}" if known else _invalid("conditional modifier", controls.selector)
        if shape.shows_flag:
            text += f".f0{'.1' if flag else ''}"
    if shape.form == "nothing":
        return " ".join(f"{text} ;".split())
    size = str(controls.size) if controls.size_code < 6 else _invalid("execution size", controls.size_code)
    parts = [f"{text}({size})"]
    three = shape.form == "three"
    if shape.destination:
        parts.append(_destination(destination.read(word)[0], three=three))
    parts += _targets(word, shape.targets)
    parts += [_source(kind.read(word)[0], three=three) for kind in sources[: shape.sources]]
    if shape.form == "send":
        parts.append(_message(word, controls.selector))
    parts.append(_options(controls, ends=shape.form == "send" and bool(word >> 127)))
    return " ".join(" ".join(parts).split()) + ";"


def _targets(word: int, form: str) -> list[str]:
    match form:
        case "jump":
            return [str(read_field(word, JUMP_FIELDS[0]))]
        case "both":
            return [str(read_field(word, field)) for field in reversed(TARGETS_FIELDS)]
        case "offset":
            offset = word >> 96
            return [str(offset - (offset >> 31 << 32))]
    return []
