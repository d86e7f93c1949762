"""Which bytes of PE memory an executed program names, with the parameters of every call put in."""

from __future__ import annotations

from pixelflow.isa import INPUT_PORT, Mem
from pixelflow.node import Run

__all__ = ["touched_bytes"]


def touched_bytes(run: Run) -> frozenset[int]:
    """Return the bytes below the local ports that the executed instructions of the EMC stream load or store.

    Calls are followed once for each set of arguments; instructions that the run never reached count for nothing. Code
    that jumps is not followed beyond the jump, which tessellation programs do not have.
    """
    program, found = run.program, set()
    instructions = program.instructions
    seen: set[tuple[int, tuple[int, ...]]] = set()
    ahead: list[tuple[int, tuple[int, ...]]] = [(program.entries["eigc"], ())]
    while ahead:
        frame = ahead.pop()
        if frame in seen:
            continue
        seen.add(frame)
        address, parameters = frame
        for index in range(program.index_of[address], len(instructions)):
            instruction = instructions[index]
            if instruction.mnemonic in ("RET", "HALT"):
                break
            if not run.executed[index]:
                continue
            if instruction.mnemonic == "CALL":
                target, arguments = instruction.operands
                ahead.append((target, tuple(_value(argument, parameters) for argument in arguments)))
                continue
            resolved = instruction.resolve(parameters) if instruction.bases else instruction
            for first, size in resolved.touches:
                found.update(range(first.offset, first.offset + size))
    return frozenset(byte for byte in found if byte < INPUT_PORT)


def _value(argument: object, parameters: tuple[int, ...]) -> int:
    """Return an argument of a call as the number that the routine gets."""
    if isinstance(argument, int):
        return argument
    own = argument.offset if isinstance(argument, Mem) else argument.value
    return own if argument.base is None else parameters[argument.base] + own
