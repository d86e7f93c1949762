"""The ways between the GPs and the node: the patch database in, points and normals out (thesis 3.8, 4.1.4 and 4.4).

Both are programs that run. The database goes from GP memory into texture memory by TAS_MemLoad, once a session, before
the first pass. Results go from the output ports to GP memory: all by TAS_GpWrite at the end of every pass, or the
points by TAS_MemRdGp4, a coordinate of a module at a time, beside the reads of control points (table 11), so that only
the normals remain. One GP does all this; GP memory holds the results of a pass first, module after module, and the
database behind them (invented).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from microcode import Builder, Mem, Program, Register
from pixelflow.config import ArrayConfig
from pixelflow.isa import OUTPUT_PORT
from pixelflow.node import Node, Run
from tessellation.lee_setup import EMC_WIDTH
from tessellation.mapping import Pass
from tessellation.memory_map import AXES, BATCH_BYTES, FLOAT_BYTES, MemoryMap
from tessellation.stages import Stage
from tessellation.texture_layout import Image, TextureDatabase
from tessellation.texture_source import ARRIVED, FREE

__all__ = ["COARSE", "FINE", "RESULT_BYTES", "FineReturn", "Returned", "emit_return", "load", "received"]

RESULT_BYTES = 2 * len(AXES) * FLOAT_BYTES
"""What a PE sends: a point and a normal, 24 bytes (thesis 4.1.4)."""

COARSE = (2 * len(AXES) * FLOAT_BYTES,)
FINE = (*[FLOAT_BYTES] * len(AXES), len(AXES) * FLOAT_BYTES)
"""How results travel: sizes of the parts, one after the other. Points and normals; or X, Y, Z and normals."""

_PORT_START = 4
"""Where results begin in the output port: behind the base address, as TAS_MemRdGp4 wants it."""

_MOST_BLOCKS = (1 << 16) - 1
"""Blocks of 32 bytes that one TAS_MemLoad can name."""

_MOST_GAP = 16
"""Unused blocks that are loaded along; a load of its own takes some 270 cycles more, a block 16."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Consecutive blocks of texture memory of one or several modules (one bit each), from a linear address on."""

    modules: int
    address: int
    data: bytes


def _pieces(images: Iterable[Image]) -> list[_Piece]:
    """Join images that lie behind each other in the same modules; gaps between patches are zeros."""
    modules: dict[tuple[int, int], int] = {}
    words: dict[tuple[int, int], np.ndarray] = {}
    for module, address, image in images:
        key = (address, id(image))
        modules[key] = modules.get(key, 0) | 1 << module
        words[key] = image
    pieces: list[_Piece] = []
    parts: list[bytes] = []
    first, end, mask = 0, 0, 0

    def finish() -> None:
        whole = b"".join(parts)
        for start in range(0, len(whole), _MOST_BLOCKS * BATCH_BYTES):
            pieces.append(_Piece(mask, first + start, whole[start : start + _MOST_BLOCKS * BATCH_BYTES]))

    for key in sorted(modules, key=lambda key: (modules[key], key[0])):
        gap = key[0] - end
        if modules[key] != mask or not 0 <= gap <= _MOST_GAP * BATCH_BYTES:
            finish()
            parts, first, gap = [], key[0], 0
        mask = modules[key]
        parts += [bytes(gap), words[key].astype("<u4").tobytes()]
        end = key[0] + words[key].nbytes
    finish()
    return pieces


def load(database: TextureDatabase, node: Node) -> Run | None:
    """Load what was stored since the last call from GP memory into texture memory; None where there is nothing.

    The bytes are put into GP memory at once: that is the application's work on the GP, which is not modelled. Equal
    pieces (copies in the other bank) are there once.
    """
    pieces = _pieces(database.new_images())
    if not pieces:
        return None
    start = node.lanes * RESULT_BYTES
    places: dict[bytes, int] = {}
    for piece in pieces:
        if piece.data not in places:
            places[piece.data] = start
            node.gp_memory[0].write(start, np.frombuffer(piece.data, np.uint8))
            start += len(piece.data)
    return node.run(_load_program([(piece, places[piece.data]) for piece in pieces]))


def _load_program(pieces: Sequence[tuple[_Piece, int]]) -> Program:
    builder = Builder("load the patch database")
    builder.mark(Stage.LOAD.value)
    builder.emit("WAIT", ARRIVED)
    builder.stream("tigc")
    for piece, source in pieces:
        builder.emit("TAS_SetGpAddress", piece.modules, source)
        blocks = len(piece.data) // BATCH_BYTES
        # The 8 SDRAMs of a module hold 4 bytes of a block each.
        builder.emit("TAS_MemLoad", piece.modules, blocks, piece.address // 8)
    builder.emit("SIGNAL", ARRIVED)
    return builder.build()


@dataclass(frozen=True, slots=True)
class Returned:
    """The PEs that send results: those with x < ``columns`` of some modules (one bit each)."""

    modules: int
    columns: int

    @classmethod
    def of(cls, work: Pass) -> Returned:
        """Return the PEs to the left of the last patch of a pass, in the modules that have patches."""
        modules = 0
        for place in work.placements:
            modules |= 1 << place.module
        return cls(modules, max(place.x + place.side for place in work.placements))

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
        """Return where in GP memory a part of the results of a module begins; ``start`` is its first byte in a PE's."""
        each = array.emcs_per_module * array.panels_per_emc * array.pes_per_panel
        return module * each * RESULT_BYTES + len(self.lanes(module, array)) * start

    def emit_addresses(self, builder: Builder, array: ArrayConfig, start: int, modules: int) -> None:
        """Emit where a part goes, for those modules: a cycle of the TIGC each."""
        for module in range(array.modules):
            if modules >> module & 1:
                builder.emit("TAS_SetGpAddress", 1 << module, self.area(module, array, start))


def _emit_into_port(builder: Builder, memory: MemoryMap, names: Sequence[str], start: int) -> None:
    """Emit the copy of floats into the output port, 8 cycles each; ``start`` is the first byte among the results."""
    builder.mark(Stage.RETURN.value)
    for number, name in enumerate(names):
        place = Mem(memory[name].start)
        for index in range(FLOAT_BYTES):
            builder.emit("LD", Register.R, Mem(place.offset + index))
            builder.emit("ST", Mem(OUTPUT_PORT + _PORT_START + start + FLOAT_BYTES * number + index), Register.R)


class FineReturn:
    """X, Y and Z leave while control points come in: a coordinate of one module beside each read (4.1.4, table 11)."""

    def __init__(
        self, memory: MemoryMap, work: Pass, array: ArrayConfig, batches: int, points: Sequence[tuple[str, int]]
    ) -> None:
        """``points`` names the coordinates and the batch whose arithmetic completes each, in this order."""
        self._memory, self._array = memory, array
        self._sent = Returned.of(work)
        self._ready = {name: (axis, batch + 1) for axis, (name, batch) in enumerate(points)}
        modules = [1 << module for module in range(array.modules) if self._sent.modules >> module & 1]
        waiting = [(axis, ready, module) for axis, ready in self._ready.values() for module in modules]
        self._reads: dict[int, tuple[int, int]] = {}
        for batch in range(batches):
            if waiting and batch > waiting[0][1]:
                axis, _, module = waiting.pop(0)
                self._reads[batch] = (axis, module)
        self._rest: dict[int, int] = {}
        for axis, _, module in waiting:
            self._rest[axis] = self._rest.get(axis, 0) | module
        self.rest = bool(waiting)

    def emit_start(self, builder: Builder) -> None:
        """Emit the marks of the PEs that send: 3 or 6 cycles."""
        builder.emit("EMC_SetEnab")
        self._sent.marks(builder, self._array)
        builder.stream("tigc")
        builder.emit("TAS_SetOrder", 0)
        builder.stream("eigc")

    def emit_read(self, builder: Builder, batch: int, sends: int) -> bool:
        """Emit TAS_MemRdGp4 if a coordinate is there to leave."""
        if batch not in self._reads:
            return False
        axis, module = self._reads[batch]
        self._sent.emit_addresses(builder, self._array, FLOAT_BYTES * axis, module)
        builder.emit("TAS_MemRdGp4", sends, module, _PORT_START + FLOAT_BYTES * axis, FLOAT_BYTES)
        return True

    def emit_into_port(self, builder: Builder, batch: int) -> None:
        """Emit the copies of coordinates that are complete, 8 cycles each."""
        for name, (axis, ready) in self._ready.items():
            if ready == batch:
                _emit_into_port(builder, self._memory, [name], FLOAT_BYTES * axis)

    def emit_rest(self, builder: Builder) -> None:
        """Emit the coordinates for which there were not enough reads."""
        for axis, modules in self._rest.items():
            self._sent.emit_addresses(builder, self._array, FLOAT_BYTES * axis, modules)
            builder.emit("TAS_GpWrite", modules, _PORT_START + FLOAT_BYTES * axis, FLOAT_BYTES)


def emit_return(
    builder: Builder, memory: MemoryMap, work: Pass, array: ArrayConfig, fine: FineReturn | None = None
) -> None:
    """Emit the way of points and normals to the GP, or of what ``fine`` leaves: the normals. Then all is there."""
    sent = Returned.of(work)
    builder.mark(Stage.RETURN.value)
    names = [f"{axis}_{what}" for what in ("point", "normal") for axis in AXES]
    start = 0
    if fine is not None:
        names, start = names[len(AXES) :], FLOAT_BYTES * len(AXES)
        if fine.rest:
            builder.emit("WAIT", ARRIVED)
    builder.emit("EMC_SetEnab")
    _emit_into_port(builder, memory, names, start)
    if fine is None:
        sent.marks(builder, array)
    builder.emit("SIGNAL", FREE)
    builder.emit("WAIT", ARRIVED)
    builder.stream("tigc")
    builder.emit("TAS_SetOrder", 0)
    sent.emit_addresses(builder, array, start, sent.modules)
    builder.emit("WAIT", FREE)
    builder.emit("TAS_GpWrite", sent.modules, _PORT_START + start, RESULT_BYTES - start)
    builder.emit("SIGNAL", ARRIVED)
    builder.stream("eigc")


def received(node: Node, work: Pass, parts: Sequence[int] = COARSE) -> tuple[np.ndarray, np.ndarray]:
    """Return points and normals as they are in GP memory: float32[lanes, xyz] each, zeros for PEs that sent none."""
    sent, array = Returned.of(work), node.config.array
    values = np.zeros((node.lanes, RESULT_BYTES), np.uint8)
    for module in range(array.modules):
        if sent.modules >> module & 1:
            lanes = sent.lanes(module, array)
            start = 0
            for size in parts:
                data = node.gp_memory[0].read(sent.area(module, array, start), len(lanes) * size)
                values[lanes, start : start + size] = data.reshape(len(lanes), size)
                start += size
    floats = values.view("<f4")
    return floats[:, : len(AXES)], floats[:, len(AXES) :]
