"""The return of a tessellation's results beside scan conversion: the coarse grain of the thesis (4.1.4).

After the last pass of the next frame its results are in PE memory, where the pixels of this frame are to be. They are
copied into the output ports once, and while the EIGC draws region after region the TIGC sends them to the GPs, part by
part. How much goes beside a region is worked out from its triangles before it is drawn: as many bytes as the path
takes in the least that so many triangles take. What is left after the last region leaves alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microcode import Builder, Program
from pixelflow.config import NodeConfig
from pixelflow.node import Node, Run
from tessellation.host.session import TakenResults
from tessellation.microprogram.gp_traffic import RESULT_BYTES, Returned, received
from tessellation.microprogram.method import WrittenPass
from tessellation.microprogram.ports import ARRIVED, FREE, PORT_START, emit_into_port
from tessellation.plan.memory_map import FLOAT_BYTES, RESULTS
from tessellation.plan.stages import Stage
from tessellation.rendering.regions import Region

__all__ = ["ReturnBeside"]

_LEAST_CYCLES = 26
"""What a triangle takes in a region at least: 1 to enable, three edges of 2 bytes, depth, a flat colour."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Bytes that every PE of a group of modules sends, which go to a GP each."""

    group: int
    start: int
    size: int


class _Parts:
    """What leaves beside one program."""

    def __init__(self, whole: ReturnBeside, parts: tuple[_Part, ...], *, first: bool) -> None:
        self._whole, self._parts, self._first = whole, parts, first

    def emit_before(self, builder: Builder) -> None:
        """Emit the copies into the ports, 48 cycles and marks, where nothing has left yet; then the TIGC's part."""
        whole = self._whole
        builder.mark(Stage.RETURN.value)
        if self._first:
            builder.emit("EMC_SetEnab")
            for index, name in enumerate(RESULTS):
                emit_into_port(builder, whole.written.memory[name].start, FLOAT_BYTES * index, FLOAT_BYTES)
            whole.sent.marks(builder, whole.config.array)
        builder.emit("SIGNAL", FREE)
        builder.stream("tigc")
        builder.mark(Stage.PORTS.value)
        builder.emit("TAS_SetOrder", 0)
        builder.emit("WAIT", FREE)
        builder.mark(Stage.RETURN.value)
        for part in self._parts:
            modules = whole.sent.groups[part.group]
            whole.sent.emit_gps(builder, modules)
            whole.sent.emit_addresses(builder, whole.config.array, part.start, modules)
            builder.emit("TAS_GpWrite", modules, PORT_START + part.start, part.size)
        builder.emit("SIGNAL", ARRIVED)
        builder.stream("eigc")

    def emit_after(self, builder: Builder) -> None:
        """Emit the wait until all of it has left."""
        builder.mark(Stage.RETURN.value)
        builder.emit("WAIT", ARRIVED)


class ReturnBeside:
    """The results of one pass on their way to the GPs, beside programs that leave the output ports alone."""

    def __init__(self, written: WrittenPass, sent: Returned, config: NodeConfig) -> None:
        self.written, self.sent, self.config = written, sent, config
        self._sizes: list[list[int]] = [[] for _ in sent.groups]
        self._begun = False
        lanes = max(len(sent.lanes(module, config.array)) for module in range(config.array.modules))
        rate = config.gni.gp_memory_mb_per_second / config.clock_mhz
        self._byte_cycles = lanes / rate

    def _left(self) -> int:
        return sum(RESULT_BYTES - sum(sizes) for sizes in self._sizes)

    def _take(self, most: int) -> _Parts | None:
        parts = []
        for group, sizes in enumerate(self._sizes):
            start = sum(sizes)
            size = min(most, RESULT_BYTES - start)
            if size > 0:
                parts.append(_Part(group, start, size))
                sizes.append(size)
                most -= size
        if not parts:
            return None
        first, self._begun = not self._begun, True
        return _Parts(self, tuple(parts), first=first)

    def beside(self, region: Region) -> _Parts | None:
        """Return what goes beside the drawing of a region; with the first one the results leave PE memory."""
        most = int(_LEAST_CYCLES * len(region.triangles) / self._byte_cycles)
        return self._take(most if self._begun else max(1, most))

    def alone(self) -> Program | None:
        """Return the program of what has not left, None where all has."""
        parts = self._take(self._left())
        if parts is None:
            return None
        builder = Builder("the rest of the results")
        parts.emit_before(builder)
        parts.emit_after(builder)
        return builder.build()

    def received(self, node: Node, runs: list[Run]) -> TakenResults:
        """Return what is in GP memory once all has left, by ``runs``."""
        points, normals = (np.zeros((node.lanes, 3), np.float32) for _ in range(2))
        there = np.zeros(node.lanes, bool)
        for modules, sizes in zip(self.sent.groups, self._sizes, strict=True):
            group = Returned(modules, self.sent.columns, self.sent.gps, self.sent.buffer)
            found = received(node, group, sizes)
            points[found[2]], normals[found[2]] = found[0][found[2]], found[1][found[2]]
            there |= found[2]
        return TakenResults(points, normals, there, sum(run.ledger.to_gps.moved for run in runs))
