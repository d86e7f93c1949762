"""Messages in the public assembler's syntax: a target with its fields, or its number and a descriptor."""

from __future__ import annotations

from gen6_bridge.code.assembler.tokens import EuTokens
from gen6_bridge.code.isa.encoding.operands import EuMessage
from pixelflow.simd.errors import nearest

__all__ = ["read_message"]

_END = 0x20
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
    name = tokens.take().text
    if name not in _FIELDS:
        near = nearest(name, _FIELDS)
        targets = ", ".join(_FIELDS)
        raise tokens.fault(f"{name} is no target of messages", f"did you mean {near}?" if near else targets, token)
    header = 1
    match name:
        case "sampler":
            entry, sampler = _numbers(tokens, name, 2, more=True)
            if tokens.take().text not in ("F", "UD", "D"):
                raise tokens.fault("expected the type of the answer", "F, UD or D", token)
            tokens.expect(")", f"after {_FIELDS[name]}")
            target, function = 2, entry | sampler << 8 | 2 << 16
        case "read":
            entry, _, control, kind = _numbers(tokens, name, 4)
            target, function = 4, entry | control << 8 | kind << 13
        case "write":
            entry, control, kind, commit, *rest = _numbers(tokens, name, 4, optional=1)
            header = int(bool(rest[0])) if rest else 1
            target, function = 5, entry | control << 8 | kind << 13 | commit << 17
        case "data_port":
            target, kind, control, entry, commit, given = _numbers(tokens, name, 6)
            header, function = int(bool(given)), entry | control << 8 | kind << 13 | commit << 17
        case "urb":
            function = tokens.integer("an offset in registers") << 4
            for word, bits in (("transpose", 2 << 10), ("interleave", 1 << 10), ("allocate", 1 << 13),
                               ("used", 1 << 14), ("complete", 1 << 15)):  # fmt: skip
                function |= bits * tokens.accept(word)
            target = 6
        case "thread_spawner":
            opcode, requester, resource = _numbers(tokens, name, 3)
            target, header, function = 7, 0, opcode | requester << 1 | resource << 4
        case "vme":
            entry, path, index, kind = _numbers(tokens, name, 4)
            target, function = 8, entry | path << 8 | index << 11 | kind << 13
        case _:
            target, header, function = (3 if name == "gateway" else 0), 0, 0
    tokens.expect("mlen", "after the target")
    length = tokens.integer("the length of the message in registers")
    tokens.expect("rlen", "after the length of the message")
    response = tokens.integer("the length of the answer in registers")
    return target, EuMessage(function, header, response, length, 0)


def _plain(tokens: EuTokens) -> tuple[int, EuMessage]:
    """Read a number of a target, 0x20 added at the end of the thread, and a descriptor of 32 bits."""
    target = tokens.integer("the number of a target")
    descriptor = tokens.integer("a descriptor")
    if tokens.peek() in ("UD", "D"):
        tokens.take()
    ends = int(bool(target & _END)) | descriptor >> 31 & 1
    message = EuMessage(descriptor & 0x7FFFF, descriptor >> 19 & 1, descriptor >> 20 & 31, descriptor >> 25 & 15, ends)
    return target & 15, message


def _numbers(tokens: EuTokens, name: str, count: int, *, optional: int = 0, more: bool = False) -> list[int]:
    tokens.expect("(", f"of {_FIELDS[name]}")
    found = [tokens.integer(_FIELDS[name])]
    while len(found) < count + optional and tokens.accept(","):
        found.append(tokens.integer(_FIELDS[name]))
    if len(found) < count:
        raise tokens.fault(f"{count} fields are wanted", _FIELDS[name])
    if more:
        tokens.expect(",", f"of {_FIELDS[name]}")
    else:
        tokens.expect(")", f"after {_FIELDS[name]}")
    return found
