"""Points and normals kept in texture memory, so that another frame need not tessellate again (thesis 3.7, appendix B).

After each pass one of the appendix's three ways, a library procedure in `texture/caching.mc`, writes what every PE has
found to an area of its module; later a procedure of the way back brings it into the PEs again. Both are programs of
their own that run on the node. Areas lie at the end of texture memory or of its first bank, one before the other, and
patches are stored from the beginning on (invented). The way with alternate banks takes the same place in two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from microcode import Builder, Mem, Program
from pixelflow.config import NodeConfig
from pixelflow.node import EMC_HEIGHT, EMC_WIDTH, AddressMap, Cell, Node, Run
from pixelflow.simd.errors import Fault, InputError
from tessellation.host.session import PassBegins, PassResult, Session
from tessellation.microprogram.gp_traffic import RESULTS, emit_return
from tessellation.microprogram.libraries import FloatLibrary
from tessellation.microprogram.passes import Method, Plan
from tessellation.microprogram.ports import emit_copy
from tessellation.plan.memory_map import FLOAT_BYTES, MemoryMap

__all__ = ["CacheArea", "CachingSession", "new_session"]


class CachingSession(Session):
    """A session that keeps the results of the last tessellation in texture memory, by the way that its method names."""

    def __init__(
        self, config: NodeConfig, engine: str, library: FloatLibrary, method: Method, *, node: Node | None = None
    ) -> None:
        """Raises what `Session` raises, and InputError where EMCs cannot take turns between the banks."""
        super().__init__(config, engine, library, method, node=node)
        if method.cache == "alternate" and config.array.emcs_per_module % 2:
            raise InputError(
                Fault(
                    f"{config.array.emcs_per_module} EMCs of a module cannot take turns between two banks",
                    hint="choose another way of caching",
                )
            )
        self._map = AddressMap(config.sdram)
        self._areas: list[int] = []
        self._kept: list[tuple[Plan, CacheArea]] = []
        self._stores: list[Run] = []

    @property
    def stores(self) -> tuple[Run, ...]:
        """The accounts of what was written to texture memory, pass by pass of the last tessellation."""
        return tuple(self._stores)

    def recall(self) -> tuple[PassResult, ...]:
        """Bring the results of the last tessellation back from texture memory, and to the GPs where they are to go."""
        results = []
        for plan, area in self._kept:
            run = self.node.run(self._recall_program(plan, area))
            results.append(PassResult(plan, run, None, *super()._results(plan, ())))
        return tuple(results)

    def _run(self, plans: Sequence[Plan], progress: Callable[[PassBegins], None] | None = None) -> Iterator[PassResult]:
        self._kept.clear()
        self._stores.clear()
        return super()._run(plans, progress)

    def _results(self, plan: Plan, gone: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        area = self._area(len(self._kept))
        self._stores.append(self.node.run(area.store_program(plan.memory, self.method.cache)))
        self._kept.append((plan, area))
        return super()._results(plan, gone)

    def _area(self, number: int) -> CacheArea:
        """Return the area of a pass; areas stay where they are, for the passes of later tessellations."""
        alternate = self.method.cache == "alternate"
        if number == len(self._areas):
            size = _area_cells(self.config, alternate=alternate) * self.config.sdram.devices_per_module
            linear = self._database.reserve(size, both_banks=alternate)
            self._areas.append(self._map.number_at(linear))
        return CacheArea(self._areas[number], self._map.number(Cell(1, 0, 0)))

    def _recall_program(self, plan: Plan, area: CacheArea) -> Program:
        builder = area.recall_builder(plan.memory, self.method.cache)
        if self.method.to_gps:
            emit_return(builder, plan.memory, self.method.returned(plan.written(), self.config), self.config.array)
        return builder.build()


def new_session(config: NodeConfig, engine: str, library: FloatLibrary, method: Method) -> Session:
    """Return a session as a method wants it: one that keeps results in texture memory, or one that does not."""
    kind = Session if method.cache is None else CachingSession
    return kind(config, engine, library, method)


def _area_cells(config: NodeConfig, *, alternate: bool) -> int:
    """Return the cells of each SDRAM that an area takes, in each of its banks: what `texture/caching.mc` can reach."""
    width, height = EMC_WIDTH * config.array.emcs_per_module, EMC_HEIGHT * config.array.modules
    return (128 if alternate else 64) * width + 4 * height


@dataclass(frozen=True, slots=True)
class CacheArea:
    """Where results lie in texture memory: the number of the first cell, and the distance of the second bank."""

    first: int
    bank: int

    def _begin(self, name: str, memory: MemoryMap) -> tuple[Builder, int]:
        """Return a program with the library, and where in a PE it finds 24 bytes of results.

        At the end of a pass the Bernstein values and what follows have done their work.
        """
        data = memory[RESULTS[-1]].end
        builder = Builder(name)
        builder.include("texture/caching.mc", DATA=data, SPARE=data + 32, BASE=self.first, BANK=self.bank)
        builder.emit("EMC_SetEnab")
        return builder, data

    def store_program(self, memory: MemoryMap, way: str) -> Program:
        """Return the program that writes points and normals of all PEs to texture memory."""
        builder, data = self._begin("keep results in texture memory", memory)
        for index, name in enumerate(RESULTS):
            emit_copy(builder, Mem(memory[name].start), Mem(data + FLOAT_BYTES * index), FLOAT_BYTES)
        builder.call(f"cache_{way}_emc")
        builder.stream("tigc")
        builder.call(f"cache_{way}_tasic")
        return builder.build()

    def recall_builder(self, memory: MemoryMap, way: str) -> Builder:
        """Return a program, to be continued, that brings them back to where they were."""
        builder, data = self._begin("results from texture memory", memory)
        builder.call("recall_far_emc" if way == "alternate" else "recall_near_emc")
        for index, name in enumerate(RESULTS):
            emit_copy(builder, Mem(data + FLOAT_BYTES * index), Mem(memory[name].start), FLOAT_BYTES)
        builder.stream("tigc")
        builder.call("recall_tasic")
        builder.stream("eigc")
        return builder
