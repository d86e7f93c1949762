"""Messages in the public assembler's syntax: a target with its fields, or its number and a descriptor."""

from __future__ import annotations

from gen6_bridge.code.assembler.tokens import EuTokens
from gen6_bridge.code.isa.encoding.operands import EuMessage
from pixelflow.simd.errors import nearest

__all__ = ["read_message"]

_END = 0x20
_NO_FIELD = 3 << 29
"""Bits of a descriptor that are no field: they stay as they are written."""
_ANY = 32
"""Bits of a field that says nothing here, or only whether it is 0."""
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
        near = nearest(name, _FIELDS)
        targets = ", ".join(_FIELDS)
        raise tokens.fault(f"{name} is no target of messages", f"did you mean {near}?" if near else targets, token)
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
                raise tokens.fault(f"{target} is no cache of the data ports", _CACHE_NAMES, token)
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
    found = tokens.integer(what)
    if not 0 <= found < 1 << width:
        raise tokens.fault(f"{found} does not fit {what}", f"0 to {(1 << width) - 1}", token)
    return found


def _numbers(tokens: EuTokens, name: str, *widths: int, optional: int = 0, more: bool = False) -> list[int]:
    """Read fields between parentheses, each of so many bits; the last ``optional`` may be missing."""
    tokens.expect("(", f"of {_FIELDS[name]}")
    found: list[int] = []
    while len(found) < len(widths):
        if found and not tokens.accept(","):
            break
        found.append(_limited(tokens, f"a field of {_FIELDS[name]}", widths[len(found)]))
    if len(found) < len(widths) - optional:
        raise tokens.fault(f"{len(widths) - optional} fields are wanted", _FIELDS[name])
    if more:
        tokens.expect(",", f"of {_FIELDS[name]}")
    else:
        tokens.expect(")", f"after {_FIELDS[name]}")
    return found
