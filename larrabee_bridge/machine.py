"""Larrabee as a machine: its record, and runs of programs for the vector unit with their cores' account."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.core import Core, CoreConfig, SharedCore, ThreadTrace, invented, take_turns
from larrabee_bridge.isa import VectorFamily
from larrabee_bridge.unit import TARGET, VectorProgram, VectorUnit
from pixelflow.shown import Sheet, Shown, Table
from pixelflow.simd.config.param import leaves
from pixelflow.simd.drawing import DrawnFrame, Frame
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.machine import Machine

__all__ = ["MACHINE", "VectorRun", "run_program"]


class VectorRun(Shown):
    """Threads of a program that have ended: their registers and memory, and what they took, alone and on cores."""

    def __init__(self, unit: VectorUnit, core: Core, cores: Sequence[SharedCore]) -> None:
        self.unit, self.core, self.cores = unit, core, tuple(cores)

    @property
    def cycles(self) -> int:
        """Of the longest thread, alone on a core; of the longest core where threads share some."""
        return max((each.cycles for each in self.cores), default=int(self.core.cycles.max()))

    @cached_property
    def figures(self) -> dict[str, NDArray[np.int64]]:
        """What each thread did, alone on a core, by what is counted: int64[thread] each."""
        return {
            "cycles alone on a core": self.core.cycles,
            "instructions": sum(self.core.counts.values()),
            "of them paired": self.core.paired,
            "cycles waited for a result": self.core.waited,
            "cache lines touched": self.core.lines,
        }

    @property
    def mix(self) -> dict[VectorFamily, int]:
        """Instructions of all threads together, by family; those that there were none of are left out."""
        return {family: int(counts.sum()) for family, counts in self.core.counts.items() if counts.any()}

    @property
    def invented(self) -> list[str]:
        """The values of the core model that this run depends on and no source gives."""
        return invented(self.core.config)

    def register(self, name: str) -> list[int]:
        """Return a register of thread 0: sixteen words of a vector, or one number; raises InputError."""
        if name not in TARGET.names or name[0] not in "vkr":
            raise InputError(Fault(f"there is no register {name}", hint="v0..v31, k0..k7, r0..r15"))
        number = int(name[1:])
        if name[0] == "v":
            return self.unit.vector(number)[0].tolist()
        return [int((self.unit.mask if name[0] == "k" else self.unit.scalar)(number)[0])]

    def words(self, start: int, size: int) -> list[int]:
        """Return ``size`` bytes of memory from ``start`` on, as words."""
        return self.unit.memory.data[0, start : start + size].view("<u4").tolist()

    def sheet(self) -> Sheet:
        """Return cycles of threads and of cores, and the instructions by family."""
        rows = tuple((what, int(each.min()), int(each.max())) for what, each in self.figures.items())
        rows += tuple((f"core {place}: cycles", each.cycles, each.cycles) for place, each in enumerate(self.cores))
        facts = [(key, str(value)) for key, _, value, default in leaves(self.core.config) if value != default]
        facts.append(("no source gives", ", ".join(self.invented)))
        mix = tuple((family.value, count) for family, count in self.mix.items())
        tables = (Table(("per thread", "fewest", "most"), rows), Table(("instructions", "count"), mix))
        return Sheet(f"{self.unit.program.name} on {self.unit.threads} threads", tuple(facts), tables)


def run_program(
    program: VectorProgram, *, config: CoreConfig | None = None, threads: int = 1, per_core: int | None = None
) -> VectorRun:
    """Run a program by ``threads`` threads, r0 holding each one's number; time cores of ``per_core`` threads as well.

    Raises InputError for caches without cores that threads share.
    """
    config = config or CoreConfig()
    if config.caches and per_core is None:
        raise InputError(Fault("caches belong to cores that threads share", hint="give the threads of a core"))
    unit, core = VectorUnit(program, threads), Core(program, threads, config)
    trace = ThreadTrace(threads, core)
    unit.set_scalar(0, np.arange(threads))
    unit.run(core if per_core is None else trace)
    firsts = range(0, threads, per_core) if per_core else ()
    cores = [take_turns(program, trace.steps[first : first + per_core], config) for first in firsts]
    return VectorRun(unit, core, cores)


def _draw(
    frame: Frame,
    *,
    parts: int = 1,
    config: CoreConfig | None = None,
    progress: Callable[[str], None] | None = None,
    tile: int = 64,
) -> DrawnFrame:
    # Only who draws waits for these imports.
    from larrabee_bridge.frame import draw_on_larrabee

    return draw_on_larrabee(frame, parts=parts, config=config, progress=progress, tile=tile)


MACHINE = Machine(
    name="larrabee",
    title="Larrabee",
    part="core",
    most_parts=64,
    target=TARGET,
    configuration=CoreConfig,
    run=run_program,
    draw=_draw,
)
