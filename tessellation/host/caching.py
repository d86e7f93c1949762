"""Points and normals kept in texture memory, so that another frame need not tessellate again (thesis 3.7, appendix B).

One of the appendix's ways, procedures of `texture/caching.mc`, writes what every PE has found to an area of its module:
after each pass by a program of its own, or beside the computation of the next pass. The last pass has no next one.
Later, procedures of the way back bring it into the PEs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from microcode import Program
from pixelflow.config import NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted
from tessellation.host.session import PassBegins, PassResult, Session
from tessellation.microprogram.gp_traffic import RESULT_BYTES, emit_return
from tessellation.microprogram.keeping import KeptPass, recall_builder, store_program
from tessellation.microprogram.libraries import FloatLibrary
from tessellation.microprogram.passes import Method, Plan
from tessellation.plan.result_area import FAR_WAYS, ResultArea
from tessellation.surface.patch import Patch

__all__ = ["CachingSession", "KeptResults", "new_session"]


@dataclass(frozen=True, slots=True)
class KeptResults:
    """What keeping the results of a tessellation took, besides the cycles in the accounts of its passes."""

    stores: tuple[Run, ...]
    """The accounts of writes that were programs of their own."""
    beside: tuple[Run, ...]
    """Those of passes that wrote what the pass before had left."""
    result_bytes: int
    """Points and normals in each module."""
    taken_bytes: int
    """What they take there, with the words that stay empty."""
    no_room: int = 0
    """Passes that were to write beside their computation and had no PE memory for it."""


class CachingSession(Session):
    """A session that keeps the results of the last tessellation in texture memory, by the way that its method names."""

    def __init__(
        self, config: NodeConfig, engine: str, library: FloatLibrary, method: Method, *, node: Node | None = None
    ) -> None:
        """Raises what `Session` raises, and InputError where EMCs cannot take turns between the banks."""
        super().__init__(config, engine, library, method, node=node)
        if method.cache in FAR_WAYS and config.array.emcs_per_module % 2:
            raise InputError(
                Fault(
                    f"{counted(config.array.emcs_per_module, 'EMC')} of a module cannot take turns between two banks",
                    hint="choose another way of caching",
                )
            )
        self._areas: list[ResultArea] = []
        self._kept: list[tuple[Plan, ResultArea]] = []
        self._stores: list[Run] = []
        self._beside: list[Run] = []
        self._kept_beside: list[bool] = []
        self._no_room = 0
        self.kept_patches: tuple[Patch, ...] = ()
        """All patches as they were in the tessellation whose results are kept."""

    @property
    def kept(self) -> KeptResults:
        """What was kept of the last tessellation."""
        lanes = self.node.lanes // self.config.array.modules
        width = self.config.sdram.devices_per_module
        taken = sum(area.taken_cells for _, area in self._kept) * width
        each = len(self._kept) * lanes * RESULT_BYTES
        return KeptResults(tuple(self._stores), tuple(self._beside), each, taken, self._no_room)

    def recall(self) -> tuple[PassResult, ...]:
        """Bring the results of the last tessellation back from texture memory, and to the GPs where they are to go."""
        results = []
        for plan, area in self._kept:
            run = self.node.run(self._recall_program(plan, area))
            results.append(PassResult(plan, run, None, *super()._results(plan, ())))
        return tuple(results)

    def forget(self) -> None:
        """Give the places of all kept results back; those of a later tessellation are chosen anew."""
        for area in self._areas:
            self.database.release_results(area)
        self._areas.clear()
        self._clear()

    def _clear(self) -> None:
        """Nothing is kept; where results were stays taken."""
        self._kept.clear()
        self._stores.clear()
        self._beside.clear()
        self._kept_beside.clear()
        self._no_room = 0

    def tessellate(
        self, marked: Mapping[int, int], progress: Callable[[PassBegins], None] | None = None
    ) -> tuple[PassResult, ...]:
        """Run all passes for the marked patches, and keep their results."""
        results = super().tessellate(marked, progress)
        self._beside = [result.run for result in results if result.plan.keeps is not None]
        return results

    def _run(self, plans: Sequence[Plan], progress: Callable[[PassBegins], None] | None = None) -> Iterator[PassResult]:
        self._clear()
        self.kept_patches = tuple(each.patch for each in self._patches)
        chained = self._keeping(plans)
        self._no_room = self.method.kept_beside * (len(plans) - 1) - sum(self._kept_beside)
        return super()._run(chained, progress)

    def _keeping(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return the passes, each of which writes what the one before has left, where that is wanted and has room."""
        areas = [self._area(number) for number in range(len(plans))]
        found = [
            replace(plan, keeps=KeptPass(plans[number - 1].memory, areas[number - 1]))
            if number and self.method.kept_beside and KeptPass.fits(plan.memory)
            else plan
            for number, plan in enumerate(plans)
        ]
        self._kept_beside = [plan.keeps is not None for plan in found[1:]] + [False]
        return found

    def programs(self, marked: Mapping[int, int]) -> tuple[Program, ...]:
        """Return the programs of passes, and those that keep what no next pass does."""
        found: list[Program] = []
        plans = self._keeping(self.plan(marked))
        for plan, area, beside in zip(plans, self._areas, self._kept_beside, strict=False):
            found.append(self.program(plan))
            if not beside:
                found.append(store_program(area, plan.memory))
        return tuple(found)

    def _results(self, plan: Plan, gone: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        number = len(self._kept)
        area = self._area(number)
        if not self._kept_beside[number]:
            self._stores.append(self.node.run(store_program(area, plan.memory)))
        self._kept.append((plan, area))
        return super()._results(plan, gone)

    def _area(self, number: int) -> ResultArea:
        """Return the area of a pass; areas stay where they are, for the passes of later tessellations."""
        if number == len(self._areas):
            assert self.method.cache is not None
            self._areas.append(self.database.reserve_results(self.method.cache, self.config))
        return self._areas[number]

    def _recall_program(self, plan: Plan, area: ResultArea) -> Program:
        builder = recall_builder(area, plan.memory)
        if self.method.to_gps:
            emit_return(builder, plan.memory, self.method.returned(plan.written(), self.config), self.config.array)
        return builder.build()


def new_session(config: NodeConfig, engine: str, library: FloatLibrary, method: Method) -> Session:
    """Return a session as a method wants it: one that keeps results in texture memory, or one that does not."""
    kind = Session if method.cache is None else CachingSession
    return kind(config, engine, library, method)
