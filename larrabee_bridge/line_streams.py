"""Streams of lines between a core and memory: four threads read or write them, and a rate limits them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from larrabee_bridge.pipeline.schedule import ScheduleConfig
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.core_image import take_turns
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import LINE_BYTES, assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory


class LineStream(NamedTuple):
    """A stream of lines between a core and memory."""

    name: str
    cycles: float
    """Cycles a line."""
    limits: tuple[tuple[str, float], ...]
    """Values of the core that limit it, and its cycles a line without the limit."""
    cores: float
    """Cores whose streams take all that the memory of the chip has."""


_STREAM = """
shl r15, 16
mov r3, r15
add r3, {past}
again: {access}
add r15, 64
cmp r15, r3
jnz again
"""
_ACCESSES = {
    "lines loaded": "load r2, [r15]", "lines prefetched, loaded": "vprefetch1 [r15 + 1024]\nload r2, [r15]",
    "lines stored": "vstored [r15], v1",
}  # fmt: skip
_RELIEVED: Mapping[str, Callable[[CoreConfig], CoreConfig]] = {
    "memory_cycles": lambda core: replace(core, memory_cycles=1),
    "misses_under_way": lambda core: replace(core, misses_under_way=64),
    "memory_line_cycles": lambda core: replace(core, memory_line_cycles=1),
    "write_line_cycles": lambda core: replace(core, write_line_cycles=0),
}
_LENGTHS = (512, 1000)
_STREAM_THREADS = 4


def _line_cycles(access: str, config: CoreConfig) -> float:
    """Return the cycles of a core for each further line, in a slice that the lines before have filled."""
    taken = []
    for lines in _LENGTHS:
        program = assemble_vector(_STREAM.format(past=LINE_BYTES * lines, access=access))
        unit = VectorUnit(program, _STREAM_THREADS, ByteMemory(_STREAM_THREADS << 16))
        unit.set_scalar(15, np.arange(_STREAM_THREADS))
        notes: list[RunNote] = []
        unit.run(notes.append, lines=True)
        taken.append(take_turns(program, RunNote.joined(notes), config).cycles)
    few, more = _LENGTHS
    return (taken[1] - taken[0]) / (more - few) / _STREAM_THREADS


def streams_of(core: CoreConfig) -> list[LineStream]:
    """Return the streams of a core: a value limits one that is faster by a tenth when the value is relieved."""
    # The smallest slice, so that lines that were stored to leave it.
    core, found = replace(core, l2_bytes=131072, l1_bytes=8192), []
    for name, access in _ACCESSES.items():
        cycles = _line_cycles(access, core)
        others = [(key, _line_cycles(access, relieved(core))) for key, relieved in _RELIEVED.items()]
        limits = tuple((key, after) for key, after in others if after < 0.9 * cycles)
        found.append(LineStream(name, cycles, limits, ScheduleConfig().memory_bytes * cycles / LINE_BYTES))
    return found


def stream_line(stream: LineStream) -> str:
    """Return a line of the report about a stream."""
    limits = ", ".join(f"{key} ({after:.1f} without that limit)" for key, after in stream.limits)
    return (
        f"{stream.name}, four threads: {stream.cycles:.1f} cycles a line on a core, "
        f"limited by {limits or 'its instructions'}; {stream.cores:.0f} such cores take all of the chip's memory"
    )
