"""Directives: names and defaults for the statements after them, and registers before the first instruction."""

from __future__ import annotations

import struct

from gen6_bridge.code.assembler.operands import TYPES, is_register, read_region, read_register, read_type
from gen6_bridge.code.assembler.symbols import SIZES, DeclaredRegister, Symbols
from gen6_bridge.code.assembler.tokens import EuToken, EuTokens
from gen6_bridge.code.isa.encoding.operands import GRF_BYTES, REGISTER_BYTES
from gen6_bridge.code.isa.encoding.types import EuType
from pixelflow.simd.errors import nearest
from pixelflow.simd.isa.program import DataBlock

__all__ = ["carry_out"]

_IGNORED = ("kernel", "end_kernel", "code", "end_code", "reg_count_payload", "reg_count_total")
_DIRECTIVES = (*_IGNORED, "declare", "default_execution_size", "default_register_type", "data")
_DECLARED = "name Base=g10.0 ElementSize=4 SrcRegion=<8,8,1> DstRegion=<1> Type=F"
_FORMATS = {
    EuType.UD: "I",
    EuType.D: "i",
    EuType.UW: "H",
    EuType.W: "h",
    EuType.UB: "B",
    EuType.B: "b",
    EuType.F: "f",
}


def carry_out(tokens: EuTokens, symbols: Symbols, data: list[DataBlock]) -> None:
    """Carry out a directive that begins with its point; raises InputError."""
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
    """Read a name for a register; what stands in ``SrcRegion`` and ``DstRegion`` may be left out."""
    token = tokens.take()
    if token.kind != "word" or is_register(token.text):
        raise tokens.fault(f"{token.text} is no name for a register", _DECLARED, token)
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
    """Read ``.data g10.2 F 1.0, -2.5``, which is no directive of the public assembler: registers at the start."""
    token = tokens.take()
    register = token.text[1:]
    if token.key[:1] not in ("g", "r") or not register.isdigit() or int(register) * REGISTER_BYTES >= GRF_BYTES:
        raise tokens.fault("data go to a general register", ".data g10 F 1.0, 2.0", token)
    element = tokens.integer("an element") if tokens.accept(".") else 0
    kind = tokens.take()
    if kind.key.upper() not in TYPES:
        near = nearest(kind.text, TYPES)
        hint = f"did you mean {near}?" if near else "UD, D, UW, W, UB, B or F"
        raise tokens.fault(f"{kind.text} is no type of data", hint, kind)
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


def _packed(tokens: EuTokens, type_: EuType, number: EuToken, *, minus: bool) -> bytes:
    """Return a number's bytes; bits of a float may be written in hex."""
    try:
        if number.key.startswith("0x"):
            bits = int(number.text, 16)
            value: float = -bits if minus else bits
            return struct.pack("<I" if type_ is EuType.F else "<" + _FORMATS[type_], value)
        value = float(number.text) if type_ is EuType.F else int(number.text, 10)
        return struct.pack("<" + _FORMATS[type_], -value if minus else value)
    except (ValueError, OverflowError, struct.error):
        raise tokens.fault(f"{'-' * minus}{number.text} is no {type_.name}", None, number) from None
