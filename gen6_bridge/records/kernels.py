"""Kernels: registers, flags, messages and the order of instructions after a run, beside what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.code.isa import EuInstruction
from gen6_bridge.code.isa.encoding.operands import GRF_REGISTERS, MRF_REGISTERS, REGISTER_BYTES
from gen6_bridge.records.files import Entry, Judged, judged, list_in, object_in, registers_of
from gen6_bridge.records.programs import code_of
from gen6_bridge.unit import BlockMemory, ExecutionUnit, MessageRecorder, Replies
from pixelflow.simd.errors import CycleLimitError, InputError, MachineFault

__all__ = ["LONGEST", "judge_kernels", "kernel_unit"]

LONGEST = 100_000
"""Instructions after which a kernel is taken for endless."""
_FIELDS = ("sfid", "desc", "mlen", "rlen", "eot", "exec", "enabled")


def _fill() -> NDArray[np.uint8]:
    """Return what registers hold that a record does not name: byte b of register r is 37 r + 11 b + 5."""
    registers, places = np.arange(GRF_REGISTERS)[:, None], np.arange(REGISTER_BYTES)[None]
    return (37 * registers + 11 * places + 5).astype(np.uint8)


def kernel_unit(
    entry: Entry, code: Sequence[EuInstruction] | None = None, *, dispatch: int | None = None
) -> tuple[ExecutionUnit, MessageRecorder]:
    """Return a unit that is ready to carry out a kernel, and who notes its messages.

    ``code`` and the mask ``dispatch`` are the record's where they are not given.
    """
    replies = Replies([bytes.fromhex(str(each)) for each in list_in(entry, "responses")])
    recorder = MessageRecorder(replies)
    mask = int(str(entry.get("dispatch_mask", "ffff")), 16) if dispatch is None else dispatch
    unit = ExecutionUnit(code_of(entry) if code is None else code, dispatch=mask, functions=recorder)
    unit.general[:] = _fill()
    for register, content in registers_of(entry, "init").items():
        unit.general[:, register] = np.frombuffer(content, np.uint8)
    unit.set_flags(int(str(entry.get("flags_in", "0")), 16))
    return unit, recorder


def judge_kernels(kind: str, path: Path, entries: list[Entry], names: list[str]) -> Iterator[Judged]:
    """Carry out each kernel and compare."""

    def check(position: int) -> Iterator[str]:
        yield from _differences(entries[position])

    yield from judged(kind, path, names, check)


def _differences(entry: Entry) -> Iterator[str]:
    try:
        unit, recorder = kernel_unit(entry)
        numbers: list[int] = []
        unit.run(lambda number, active: numbers.append(number), limit=LONGEST)
    except (CycleLimitError, MachineFault, InputError) as error:
        yield f"refused: {error}"
        return
    yield from _registers(entry, unit)
    written = registers_of(entry, "expect_mrf")
    for register in sorted({*range(MRF_REGISTERS), *written}):
        found, content = unit.message[0, register].tobytes(), written.get(register, bytes(REGISTER_BYTES))
        if found != content:
            yield f"m{register}: {found.hex()}, recorded {content.hex()}"
    if "flags_out" in entry and int(unit.flags[0]) != int(str(entry["flags_out"]), 16):
        yield f"f0: {int(unit.flags[0]):08x}, recorded {entry['flags_out']}"
    if "issued" in entry and int(unit.issued[0]) != entry["issued"]:
        yield f"instructions issued: {unit.issued[0]}, recorded {entry['issued']}"
    trace = entry.get("trace")
    if isinstance(trace, list) and numbers != trace:
        pairs = zip(numbers, trace, strict=False)
        first = next((at for at, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(numbers), len(trace)))
        yield f"step {first} of the order of instructions differs"
    yield from _messages(entry, recorder)
    yield from _memory(entry)


def _registers(entry: Entry, unit: ExecutionUnit) -> Iterator[str]:
    wanted = _fill()
    for register, content in (registers_of(entry, "init") | registers_of(entry, "expect")).items():
        wanted[register] = np.frombuffer(content, np.uint8)
    care = np.ones(wanted.shape, np.bool_)
    for register, content in registers_of(entry, "care").items():
        care[register] = np.frombuffer(content, np.uint8) != 0
    tolerances = object_in(entry, "tolerance")
    for name in tolerances:
        bound, register = object_in(tolerances, name), int(name[1:])
        care[register] = False
        found, expected = (each[register].view(np.float32).astype(np.float64) for each in (unit.general[0], wanted))
        allowed = float(str(bound["abs"])) + float(str(bound["rel"])) * np.abs(expected)
        if not (np.abs(found - expected) <= allowed).all():
            yield f"g{register}: {found.tolist()}, recorded {expected.tolist()} within a tolerance"
    for name, channels in object_in(entry, "nan").items():
        if not np.isnan(unit.general[0, int(name[1:])].view(np.float32)[channels]).all():
            yield f"g{name[1:]}: no NaN where one was recorded"
    differs = (unit.general[0] != wanted) & care
    for register in np.flatnonzero(differs.any(axis=1)).tolist():
        mine, theirs = (each[register].tobytes().hex() for each in (unit.general[0], wanted))
        yield f"g{register}: {mine}, recorded {theirs}"


def _messages(entry: Entry, recorder: MessageRecorder) -> Iterator[str]:
    wanted = entry.get("messages")
    if not isinstance(wanted, list):
        return
    if len(wanted) != len(recorder.requests):
        yield f"messages: {len(recorder.requests)}, recorded {len(wanted)}"
    for number, (request, message) in enumerate(zip(recorder.requests, wanted, strict=False)):
        if not isinstance(message, dict):
            raise TypeError(f"message {number} is no object")
        about = request.message
        mine = (
            request.target,
            about.descriptor,
            about.length,
            about.response,
            about.end,
            request.size,
            request.enabled,
        )
        for name, value in zip(_FIELDS, mine, strict=True):
            if name in message and message[name] != value:
                yield f"message {number}, {name}: {value}, recorded {message[name]}"
        if "payload" in message and request.payload.tobytes().hex() != message["payload"]:
            yield f"message {number}, payload: {request.payload.tobytes().hex()}, recorded {message['payload']}"


def _memory(entry: Entry) -> Iterator[str]:
    """Where a record has a memory, carry the kernel out once more against it."""
    before = entry.get("memory")
    if not isinstance(before, str):
        return
    memory = np.frombuffer(bytes.fromhex(before), np.uint8).copy()
    unit, recorder = kernel_unit(entry)
    recorder.others = BlockMemory(memory)
    unit.run(limit=LONGEST)
    yield from _registers(entry, unit)
    after = entry.get("memory_after")
    if isinstance(after, str) and memory.tobytes().hex() != after:
        place = next(
            at for at, (mine, theirs) in enumerate(zip(memory, bytes.fromhex(after), strict=True)) if mine != theirs
        )
        yield f"memory differs from byte {place} on"
