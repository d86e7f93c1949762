"""The ways between the GPs and the node: the patch database in, points and normals out (thesis 3.8, 4.1.4 and 4.4).

Both are programs that run. The database goes from the memory of GP 0 into texture memory by TAS_MemLoad, once a
session, before the first pass. Results go from the output ports to GP memory: by TAS_GpWrite at the end of a pass, or
in parts during the reads of control points (`write_back.py`). The modules of a pass take turns among the GPs that
receive results. The memory of each GP has room for the results of two passes, module after module, so that those of one
can be used while those of the next come; the database follows them (all of this is invented).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import microcode
from microcode import Program
from pixelflow.config import ArrayConfig
from pixelflow.node import EMC_WIDTH, AddressMap, GpMemory, Node, Run
from tessellation.microprogram.ports import ARRIVED, FREE, PORT_START, emit_into_port
from tessellation.plan.mapping import Pass
from tessellation.plan.memory_map import AXES, BATCH_BYTES, FLOAT_BYTES, RESULTS, MemoryMap
from tessellation.plan.schedule import Stage
from tessellation.plan.texture_layout import Image, TextureDatabase

if TYPE_CHECKING:  # a kept program is found without the assembler
    from microcode import Builder

RESULT_BYTES = 2 * len(AXES) * FLOAT_BYTES
"""Bytes of results of a PE: a point and a normal (thesis 4.1.4)."""

_BUFFERS = 2
"""Passes whose results have room in GP memory."""

_MOST_BLOCKS = (1 << 16) - 1
"""Blocks of 32 bytes that one TAS_MemLoad can name."""


class _Piece(NamedTuple):
    """Consecutive blocks of texture memory of one or several modules (one bit each) at a linear address."""

    modules: int
    address: int
    data: bytes


def _pieces(images: Iterable[Image]) -> list[_Piece]:
    """Join images that follow each other in the same modules; the unused rest of a patch's slot becomes zeros."""
    modules: dict[tuple[int, int], int] = {}
    found: dict[tuple[int, int], Image] = {}
    for image in images:
        key = (image.address, id(image.words))
        modules[key] = modules.get(key, 0) | 1 << image.module
        found[key] = image
    pieces: list[_Piece] = []
    parts: list[bytes] = []
    first, end, mask, slack = 0, 0, 0, 0

    def finish() -> None:
        whole = b"".join(parts)
        for start in range(0, len(whole), _MOST_BLOCKS * BATCH_BYTES):
            pieces.append(_Piece(mask, first + start, whole[start : start + _MOST_BLOCKS * BATCH_BYTES]))

    for key in sorted(modules, key=lambda key: (modules[key], key[0])):
        gap = key[0] - end
        if modules[key] != mask or not 0 <= gap <= slack:
            finish()
            parts, first, gap = [], key[0], 0
        mask = modules[key]
        words = found[key].words
        parts += [bytes(gap), words.astype("<u4").tobytes()]
        end, slack = key[0] + words.nbytes, found[key].room - words.nbytes
    finish()
    return pieces


def load(database: TextureDatabase, node: Node) -> Run | None:
    """Load everything stored since the last call from GP memory into texture memory; return None if there is nothing.

    The bytes are put into GP memory at once: that is the application's work on the GP, which is not modelled. Equal
    pieces (copies in the other bank) are there once.
    """
    pieces = _pieces(database.new_images())
    if not pieces:
        return None
    start = _BUFFERS * node.lanes * RESULT_BYTES
    places: dict[bytes, int] = {}
    for piece in pieces:
        if piece.data not in places:
            places[piece.data] = start
            node.gp_memory[0].write(start, np.frombuffer(piece.data, np.uint8))
            start += len(piece.data)
    program = _load_program([(piece, places[piece.data]) for piece in pieces], AddressMap(node.config.sdram))
    return node.run(program)


def _load_program(pieces: Sequence[tuple[_Piece, int]], addresses: AddressMap) -> Program:
    builder = microcode.Builder("load the patch database")
    builder.mark(Stage.LOAD.value)
    builder.emit("WAIT", ARRIVED)
    builder.stream("tigc")
    builder.emit("TAS_SetGp", reduce(or_, (piece.modules for piece, _ in pieces)), 0, 0)
    for piece, source in pieces:
        builder.emit("TAS_SetGpAddress", piece.modules, source)
        blocks = len(piece.data) // BATCH_BYTES
        builder.emit("TAS_MemLoad", piece.modules, blocks, int(addresses.number_at(piece.address)))
    builder.emit("SIGNAL", ARRIVED)
    return builder.build()


@dataclass(frozen=True, slots=True)
class Returned:
    """The PEs that send results, those with x < ``columns`` of some modules (one bit each), and the destination.

    The modules send to the ``gps`` GPs in turn. ``buffer`` is the area in GP memory, 0 or 1.
    """

    modules: int
    columns: int
    gps: int = 1
    buffer: int = 0

    @classmethod
    def of(cls, work: Pass, gps: int = 1, buffer: int = 0) -> Returned:
        """Return the PEs to the left of the last patch of a pass, in the modules that have patches."""
        modules = reduce(or_, (1 << module for place in work.placements for module in place.modules))
        return cls(modules, max(place.x + place.side for place in work.placements), gps, buffer)

    @property
    def _numbers(self) -> list[int]:
        return [module for module in range(self.modules.bit_length()) if self.modules >> module & 1]

    @property
    def by_gp(self) -> dict[int, int]:
        """The modules that send to each GP, one bit each."""
        numbers = self._numbers
        return {gp: sum(1 << module for module in numbers[gp :: self.gps]) for gp in range(min(self.gps, len(numbers)))}

    @property
    def groups(self) -> tuple[int, ...]:
        """The modules that can send at the same time, each to a separate GP: one bit each, group after group."""
        numbers, starts = self._numbers, range(0, len(self._numbers), self.gps)
        return tuple(sum(1 << module for module in numbers[start : start + self.gps]) for start in starts)

    def lanes(self, module: int, array: ArrayConfig) -> np.ndarray:
        """Return the lanes of a module in the order in which their bytes travel: one PE of each EMC in turn."""
        each = array.panels_per_emc * array.pes_per_panel
        emc, place = divmod(np.arange(array.emcs_per_module * each), each)
        panel, pe = divmod(place, array.pes_per_panel)
        sends = EMC_WIDTH * emc + 8 * (panel % 2) + pe // 4 < self.columns
        number = np.cumsum(sends.reshape(-1, each), axis=1).ravel()
        lanes = np.flatnonzero(sends)
        order = np.lexsort((emc[lanes], number[lanes]))
        return lanes[order] + module * len(emc)

    def marks(self, builder: Builder, array: ArrayConfig) -> None:
        """Emit the marks for writing, with all PEs enabled before and after: 2 or 5 cycles."""
        if self.columns < EMC_WIDTH * array.emcs_per_module:
            builder.emit("EMC_TreeLTZero_Li", 0, 2, 1, 0, -self.columns)
        builder.emit("EMC_MarkWrite")
        builder.emit("EMC_SetEnab")

    def area(self, module: int, array: ArrayConfig, start: int) -> int:
        """Return the begin in GP memory of a part of the results of a module; ``start`` is its first byte in a PE's."""
        each = array.emcs_per_module * array.panels_per_emc * array.pes_per_panel
        before = (self.buffer * array.modules + module) * each * RESULT_BYTES
        return before + len(self.lanes(module, array)) * start

    def emit_gps(self, builder: Builder, modules: int) -> None:
        """Emit the choice of the GP for each of these modules: a cycle of the TIGC for each GP."""
        for gp, senders in self.by_gp.items():
            if senders & modules:
                builder.emit("TAS_SetGp", senders & modules, 0, gp)

    def emit_addresses(self, builder: Builder, array: ArrayConfig, start: int, modules: int) -> None:
        """Emit the address of a part in GP memory, for those modules: a cycle of the TIGC each."""
        for module in range(array.modules):
            if modules >> module & 1:
                builder.emit("TAS_SetGpAddress", 1 << module, self.area(module, array, start))


def emit_return(
    builder: Builder, memory: MemoryMap, sent: Returned, array: ArrayConfig, *, gone: int = 0, wait: bool = False
) -> None:
    """Emit the way of points and normals to the GPs, without the first ``gone`` of these six floats.

    With ``wait`` the TIGC signals that the ports are free. If floats have left before, their PEs are already marked.
    """
    builder.mark(Stage.RETURN.value)
    if wait:
        builder.emit("WAIT", ARRIVED)
    builder.emit("EMC_SetEnab")
    for index, name in enumerate(RESULTS[gone:], start=gone):
        emit_into_port(builder, memory[name].start, FLOAT_BYTES * index, FLOAT_BYTES)
    if not gone:
        sent.marks(builder, array)
    builder.emit("SIGNAL", FREE)
    builder.emit("WAIT", ARRIVED)
    builder.stream("tigc")
    builder.mark(Stage.PORTS.value)
    builder.emit("TAS_SetOrder", 0)
    sent.emit_gps(builder, sent.modules)
    start = FLOAT_BYTES * gone
    sent.emit_addresses(builder, array, start, sent.modules)
    builder.emit("WAIT", FREE)
    builder.mark(Stage.RETURN.value)
    builder.emit("TAS_GpWrite", sent.modules, PORT_START + start, RESULT_BYTES - start)
    builder.emit("SIGNAL", ARRIVED)
    builder.stream("eigc")


def bytes_to_gps(run: Run) -> int:
    """Return the bytes that a run moved to the GPs."""
    assert run.ledger is not None  # as it has ended
    return run.ledger.to_gps.moved


def received(
    node: Node,
    sent: Returned,
    parts: Sequence[int] = (RESULT_BYTES,),
    *,
    memories: Sequence[GpMemory] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points and normals from GP memory, float32[lanes, xyz] each, and the lanes that sent them, bool[lanes].

    ``parts`` are the sizes of the pieces in which a PE's bytes came. A PE that sent none has zeros. ``memories`` are
    by default those of the node's GPs.
    """
    array = node.config.array
    memories = node.gp_memory if memories is None else memories
    values = np.zeros((node.lanes, RESULT_BYTES), np.uint8)
    there = np.zeros(node.lanes, bool)
    for gp, modules in sent.by_gp.items():
        for module in (module for module in range(array.modules) if modules >> module & 1):
            lanes = sent.lanes(module, array)
            there[lanes] = True
            start = 0
            for size in parts:
                data = memories[gp].read(sent.area(module, array, start), len(lanes) * size)
                values[lanes, start : start + size] = data.reshape(len(lanes), size)
                start += size
    floats = values.view("<f4")
    return floats[:, : len(AXES)], floats[:, len(AXES) :], there
