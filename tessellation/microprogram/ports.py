"""The local ports of the PEs between both streams: semaphores, copies in and out, and their layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

import microcode
from microcode import Mem, Program, Register
from pixelflow.isa import INPUT_PORT, OUTPUT_PORT
from tessellation.plan.mapping import Pass, Placement
from tessellation.plan.memory_map import AVAILABLE, FLOAT_BYTES, RESULTS, MemoryMap
from tessellation.plan.schedule import SINGLE, Stage, StoredFormat
from tessellation.plan.texture_layout import ResultArea

if TYPE_CHECKING:  # a kept program is found without the assembler
    from microcode import Builder
    from microcode.draft import RoundsDraft

FREE, ARRIVED = 0, 1
"""Semaphores: the ports may be used by the TASICs; a batch is in the ports."""

ADDRESS_PLACE = Mem(OUTPUT_PORT)
"""The base address is in the first bytes of the output port, from which PEs send it."""

PORT_START = 4
"""Begin of the results in the output port: past the base address, as TAS_MemRdGp4 requires."""


def emit_copy(builder: Builder | RoundsDraft, source: Mem, target: Mem, size: int) -> None:
    """Emit the copy of bytes within PE memory, 2 cycles each."""
    for index in range(size):
        builder.emit("LD", Register.R, source[index])
        builder.emit("ST", target[index], Register.R)


def emit_into_port(builder: Builder, place: int, start: int, size: int) -> None:
    """Emit the copy of a float into the output port; ``start`` is its first byte among a PE's results."""
    emit_copy(builder, Mem(place), Mem(OUTPUT_PORT + PORT_START + start), size)


def emit_copy_out(builder: Builder, size: int) -> None:
    """Emit the routine that copies the first bytes of the input port to its argument, 1 + 2 a byte."""
    with builder.routine("copy_out", ("to",)) as (to,):
        emit_copy(builder, Mem(INPUT_PORT), to, size)


def emit_cleared_ports(builder: Builder, work: Pass) -> None:
    """Emit address 0 for all PEs unless a patch's load reaches them all, so that PEs of no patch have one: 5 cycles."""
    if not any(placement.x == placement.y == 0 for placement in work.placements):
        builder.mark(Stage.MARKS.value)
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeIntoMem_Li", ADDRESS_PLACE, 3, 0, 0, 0)


class ControlPointSource(Protocol):
    """Emits the microcode that brings one batch of control values to every PE of every patch of a pass."""

    def emit_start(self, builder: Builder) -> None:
        """Emit the start of the first batch, right after the load of base addresses."""

    def emit_batch(self, builder: Builder, batch: int) -> None:
        """Emit code after which values 8 * batch .. of its patch are in the range ``control_points`` of each PE.

        The enables are arbitrary before; all PEs are enabled after.
        """


class LeeControlPoints:
    """Control values through the LEE: per patch, enable its PEs, broadcast each value (thesis 3.2).

    The thesis calls this "prohibitively expensive in time" (3.5). A batch costs 5 cycles a patch for the enable, as
    in the load of base addresses, and 5 a value.
    """

    def __init__(
        self,
        memory: MemoryMap,
        placements: Sequence[Placement],
        values: Mapping[int, np.ndarray],
        stored: StoredFormat = SINGLE,
    ) -> None:
        """``values`` are the control values of each patch in the order of use, as patterns of the format ``stored``."""
        self._start = memory["control_points"].start
        self._placements = placements
        self._values = {patch: stream.tolist() for patch, stream in values.items()}
        self._stored = stored

    def emit_start(self, builder: Builder) -> None:
        """Emit nothing: no transfer runs in parallel to the EMCs."""

    def emit_batch(self, builder: Builder, batch: int) -> None:
        """Emit the loads of one batch for all patches, in load order (a quadrant overwrites what is loaded later)."""
        builder.mark(Stage.CONTROL_POINTS.value)
        size, count = self._stored.value_bytes, self._stored.batch_values
        first = batch * count
        for placement in self._placements:
            enable_quadrant(builder, placement)
            for index, bits in enumerate(self._values[placement.patch][first : first + count]):
                builder.emit("EMC_TreeIntoMem_Li", Mem(self._start + index * size), size, 0, 0, bits)
        builder.emit("EMC_SetEnab")


def enable_square(builder: Builder, placement: Placement) -> None:
    """Emit the enable of the PEs of a patch's own square alone: 9 cycles."""
    enable_quadrant(builder, placement)
    builder.emit("EMC_TreeLTZero_Li", 0, 1, 1, 0, -(placement.x + placement.side))
    builder.emit("EMC_TreeLTZero_Li", 0, 1, 0, 1, -(placement.y + placement.side))


def enable_quadrant(builder: Builder, placement: Placement) -> None:
    """Emit the enable of all PEs right of and below a patch's sample (0, 0): 5 cycles."""
    builder.emit("EMC_SetEnab")
    builder.emit("EMC_TreeGEZero_Li", 0, 1, 1, 0, -placement.x)
    builder.emit("EMC_TreeGEZero_Li", 0, 1, 0, 1, -placement.y)


# Results of a pass on their way to texture memory and back: as a program, or during the next pass (appendix B).
#
# The latter takes "about 9000 TASIC cycles, which can be overlapped with computation on the EMCs". The results are
# copied to the end of PE memory before the next pass begins, and spread over the PEs. Reads of control points need
# ports and marks; after the last of them, ports and TASICs are idle until the pass ends. The writes go there: the EMCs
# fill the ports, the texture stream writes a part during their arithmetic, and at the next of a few places the EMCs
# wait for that part, which is a separate stage, and set the marks for another.


_DATA_BYTES, _SPARE_BYTES = 32, 8
_DATA = AVAILABLE - _DATA_BYTES - _SPARE_BYTES
_GO, _DONE = 14, 15
"""The library's semaphores."""


class Chance(IntEnum):
    """Places of a pass after its last read, at which a part can begin."""

    READ = 0
    AMIDST = 1
    NORMALS = 2
    CROSSED = 3
    SQUARED = 4


_PARTS = {
    "explicit": (Chance.READ, Chance.NORMALS),
    "base": (Chance.READ,),
    "alternate": (Chance.READ, Chance.NORMALS),
    "split": (Chance.READ, Chance.AMIDST, Chance.CROSSED, Chance.SQUARED),
}
"""Begin of the parts of each way: in a bicubic pass of the thesis those of `alternate` never wait."""


class KeptPass(NamedTuple):
    """Results of the pass before that a pass writes: their layout in PE memory, and the area that takes them."""

    memory: MemoryMap
    area: ResultArea

    @staticmethod
    def fits(memory: MemoryMap) -> bool:
        """Return True if a pass with that layout has room for the results of another: 40 bytes."""
        return memory.used <= _DATA


class Keeping:
    """The writes of kept results during a pass, if there are any."""

    def __init__(self, kept: KeptPass | None = None) -> None:
        self._kept = kept
        self._left = [] if kept is None else list(enumerate(_PARTS[kept.area.way]))
        self._under_way = False

    def emit_ahead(self, builder: Builder) -> None:
        """Emit the copies of the results of the pass before, 48 cycles, and their spread over the PEs."""
        if self._kept is None:
            return
        builder.mark(Stage.KEEPING.value)
        _include(builder, self._kept.area, _DATA)
        builder.emit("EMC_SetEnab")
        _emit_gathered(builder, self._kept.memory, _DATA)
        builder.call("far_spread" if self._kept.area.both_banks else "near_spread")

    def emit_writes(self, builder: Builder) -> None:
        """Emit all writes, in the stream of the TIGC; each waits until the ports are filled."""
        if self._kept is not None:
            builder.mark(Stage.KEEPING.value)
            builder.call(f"cache_{self._kept.area.way}_tasic")

    def emit(self, builder: Builder, chance: Chance, then: Stage) -> None:
        """Emit the parts due at this place, with all PEs enabled before and after; ``then`` is the stage that
        continues.
        """
        if self._kept is None or not self._left or self._left[0][1] > chance:
            return
        while self._left and self._left[0][1] <= chance:
            self._emit_awaited(builder)
            builder.mark(Stage.KEEPING.value)
            number, _ = self._left.pop(0)
            builder.call(f"cache_{self._kept.area.way}_part{number}")
            self._under_way = True
        builder.mark(then.value)

    def emit_end(self, builder: Builder) -> None:
        """Emit the wait for the last part; no PE is marked for writing after it."""
        if self._kept is None:
            return
        self.emit(builder, max(Chance), Stage.KEEPING)
        self._emit_awaited(builder)
        builder.mark(Stage.KEEPING.value)
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_ClearMarks")

    def _emit_awaited(self, builder: Builder) -> None:
        if self._under_way:
            builder.mark(Stage.KEPT_STALL.value)
            builder.emit("WAIT", _DONE)
            self._under_way = False


def _include(builder: Builder, area: ResultArea, data: int) -> None:
    single = area.single if area.way == "split" else 0
    builder.include(
        "texture/caching.mc", DATA=data, SPARE=data + _DATA_BYTES, BASE=area.first, SINGLE=single, BANK=area.bank,
        GO=_GO, DONE=_DONE,
    )  # fmt: skip


def _emit_gathered(builder: Builder, memory: MemoryMap, data: int) -> None:
    for index, name in enumerate(RESULTS):
        emit_copy(builder, Mem(memory[name].start), Mem(data + FLOAT_BYTES * index), FLOAT_BYTES)


def _begin(name: str, area: ResultArea, memory: MemoryMap) -> tuple[Builder, int]:
    """Return a program with the library, and the place of 24 bytes of results in a PE.

    At the end of a pass the Bernstein values and all above them are free.
    """
    data = memory[RESULTS[-1]].end
    builder = microcode.Builder(name)
    _include(builder, area, data)
    builder.emit("EMC_SetEnab")
    return builder, data


def store_program(area: ResultArea, memory: MemoryMap) -> Program:
    """Return the program that writes points and normals of all PEs to texture memory."""
    builder, data = _begin("keep results in texture memory", area, memory)
    _emit_gathered(builder, memory, data)
    builder.call(f"cache_{area.way}_emc")
    builder.stream("tigc")
    builder.call(f"cache_{area.way}_tasic")
    return builder.build()


def recall_builder(area: ResultArea, memory: MemoryMap) -> Builder:
    """Return a program, to be continued, that brings them back to their place in the PEs."""
    builder, data = _begin("results from texture memory", area, memory)
    builder.call({"alternate": "recall_far_emc", "split": "recall_split_emc"}.get(area.way, "recall_near_emc"))
    for index, name in enumerate(RESULTS):
        emit_copy(builder, Mem(data + FLOAT_BYTES * index), Mem(memory[name].start), FLOAT_BYTES)
    builder.stream("tigc")
    builder.call("recall_tasic")
    builder.stream("eigc")
    return builder
