"""Runs of real programs on data: registers, flags, addresses and messages after them, beside what was recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from gen6_bridge.code.isa import EuInstruction
from gen6_bridge.code.isa.encoding.operands import GRF_BYTES, REGISTER_BYTES
from gen6_bridge.code.isa.meanings.execution import FloatRules
from gen6_bridge.records.files import Entry, Judged, judged, list_in, registers_of
from gen6_bridge.records.programs import code_of
from gen6_bridge.unit import ExecutionUnit, MessageRecorder, Replies, Request
from gen6_bridge.unit.messages import SAMPLER
from pixelflow.simd.errors import CycleLimitError, InputError, MachineFault

__all__ = ["ISSUED", "judge_colours", "judge_runs", "run_unit"]

ISSUED = 1200
"""Instructions after which a recorded run stops."""
_YUV = "exa_wm_yuv_rgb"


def _replies(key: str) -> Replies:
    """Return answers that are made from a key, as the records say."""

    def answer(number: int, request: Request) -> bytes:
        seed = key % number if "%d" in key else f"{key}{number}"
        count = request.message.response * REGISTER_BYTES // 32
        content = b"".join(hashlib.sha256(f"{seed}/{part}".encode()).digest() for part in range(count))
        if request.target != SAMPLER:
            return content
        first = np.frombuffer(content, np.uint8).reshape(-1, 4)[:, 0]
        return ((first % 65) / 64).astype(np.float32).tobytes()

    return Replies(answer)


def judge_runs(
    kind: str, path: Path, entries: list[Entry], names: list[str], programs: dict[str, Entry]
) -> Iterator[Judged]:
    """Carry out each run and compare; ``programs`` are those of the folder by name."""

    def check(position: int) -> Iterator[str]:
        entry = entries[position]
        program = programs.get(str(entry["program"]))
        if program is None and "words" not in entry:
            yield f"there is no program {entry['program']} in the folder"
            return
        try:
            yield from _differences(entry, program or entry)
        except (CycleLimitError, MachineFault, InputError) as error:
            yield f"refused: {error}"

    yield from judged(kind, path, names, check)


def run_unit(entry: Entry, code: Sequence[EuInstruction]) -> tuple[ExecutionUnit, MessageRecorder]:
    """Return a unit that is ready for a run of a program, and who notes its messages."""
    recorder = MessageRecorder(_replies(str(entry.get("response_key", ""))))
    dispatch = int(str(entry.get("dispatch_mask", "ffff")), 16)
    unit = ExecutionUnit(code, dispatch=dispatch, functions=recorder)
    unit.memory.data[0, :GRF_BYTES] = np.frombuffer(bytes.fromhex(str(entry["grf"])), np.uint8)
    return unit, recorder


def _differences(entry: Entry, program: Entry) -> Iterator[str]:
    unit, recorder = run_unit(entry, code_of(program))
    unit.run(limit=ISSUED, stops=True)
    for what, mine, key in (
        ("instructions issued", int(unit.issued[0]), "issued"),
        ("the end by a message", bool(unit.ended[0]), "ended"),
        ("the next instruction", int(unit.pointers[0]), "next_ip"),
        ("messages", len(recorder.requests), "messages"),
        ("address registers", unit.addresses[0].tolist(), "a0_after"),
        ("f0", f"{int(unit.flags[0]):08x}", "flags_after"),
    ):
        if key in entry and entry[key] != mine:
            yield f"{what}: {mine}, recorded {entry[key]}"
    for what, content, key in (("g", unit.general[0], "grf_after"), ("m", unit.message[0], "mrf_after")):
        if key not in entry:
            continue
        wanted = np.frombuffer(bytes.fromhex(str(entry[key])), np.uint8).reshape(content.shape)
        for register in np.flatnonzero((content != wanted).any(axis=1)).tolist():
            yield f"{what}{register}: {content[register].tobytes().hex()}, recorded {wanted[register].tobytes().hex()}"
    messages = list_in(entry, "message_list")
    for number, (request, message) in enumerate(zip(recorder.requests, messages, strict=False)):
        if not isinstance(message, dict):
            raise TypeError(f"message {number} is no object")
        mine = (
            request.target,
            f"{request.message.descriptor:08x}",
            hashlib.sha256(request.payload.tobytes()).hexdigest(),
        )
        if mine != (message["sfid"], message["desc"], message["payload_sha256"]):
            yield f"message {number} differs"


def judge_colours(
    kind: str, path: Path, entries: list[Entry], names: list[str], programs: dict[str, Entry]
) -> Iterator[Judged]:
    """Carry out the conversion of colours: products rounded as recorded, fused ones within the tolerance."""

    def check(position: int) -> Iterator[str]:
        entry = entries[position]
        program = programs.get(_YUV)
        if program is None:
            yield f"there is no program {_YUV} in the folder"
            return
        bound, reference = float(str(entry["tolerance_abs"])), np.array(entry["reference_float64"], np.float64)
        for fused in (False, True):
            unit = ExecutionUnit(code_of(program), arithmetic=FloatRules(fused=fused))
            for register, content in registers_of(entry, "init").items():
                unit.general[:, register] = np.frombuffer(content, np.uint8)
            unit.run(limit=ISSUED)
            found = unit.floats(14, 6).reshape(3, 16).astype(np.float64)
            if np.abs(found - reference).max() > bound:
                yield f"colours are {np.abs(found - reference).max()} off, allowed are {bound}"
            for register, content in registers_of(entry, "unfused").items() if not fused else ():
                mine = unit.general[0, register].tobytes()
                if mine != content:
                    yield f"g{register}: {mine.hex()}, recorded {content.hex()}"

    yield from judged(kind, path, names, check)
