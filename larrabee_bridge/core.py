"""When the instructions of a thread issue: in order, two pipes, results after a latency. It knows no values.

Each group of lanes is charged what its own way through the program costs, as if it were alone on a core; threads that
share one are in `threads.py`. Here every access hits the L1 cache; misses are counted there, and the ring nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.dependences import Dependences, dependences
from larrabee_bridge.isa import Family, Pipe
from larrabee_bridge.program import VectorProgram
from pixelflow.config.param import param
from pixelflow.units import Standing

__all__ = ["Core", "CoreConfig", "Costs"]


@dataclass(frozen=True)
class CoreConfig:
    """What the model of a core is given."""

    vector_latency: int = param(
        4,
        "from the issue of a vector instruction to that of one that uses its result",
        unit="cycles",
        source="Intel, Xeon Phi vector microarchitecture: a descendant; no source on Larrabee gives it",
        standing=Standing.INVENTED,
        low=1,
        high=64,
    )
    scalar_latency: int = param(
        1,
        "the same for scalar instructions, loads that hit the L1 cache among them",
        unit="cycles",
        source="Intel, Xeon Phi tuning note: L1 about 1 cycle; a descendant",
        standing=Standing.INVENTED,
        low=1,
        high=64,
    )
    load_op_cycles: int = param(
        0,
        "more cycles until the result where a vector instruction reads memory in the L1 cache, widening included",
        unit="cycles",
        source="Seiler et al. 2008, 3.3: read and converted with no loss of performance",
        standing=Standing.DERIVED,
        low=0,
        high=64,
    )
    dual_issue: bool = param(
        True,
        "a second instruction issues in the secondary pipe in the same cycle",
        unit="",
        source="Seiler et al. 2008, 3.2; which instructions may is with their declarations",
        standing=Standing.DERIVED,
    )
    back_to_back: bool = param(
        True,
        "a thread may issue in consecutive cycles",
        unit="",
        source="Seiler et al. 2008 name no restriction; the descendant has one",
        standing=Standing.INVENTED,
    )

    caches: bool = param(
        False,
        "threads that share a core wait for lines that are not in its caches; else every access hits",
        unit="",
        source="a switch of the model",
        standing=Standing.INVENTED,
    )
    l1_bytes: int = param(
        32768,
        "L1 data cache of a core",
        unit="bytes",
        source="Seiler et al. 2008, 3.1",
        standing=Standing.DERIVED,
        allowed=(8192, 16384, 32768, 65536),
    )
    l2_bytes: int = param(
        262144,
        "slice of the L2 cache that belongs to a core",
        unit="bytes",
        source="Seiler et al. 2008, 3.1",
        standing=Standing.DERIVED,
        allowed=(131072, 262144, 524288),
    )
    ways: int = param(
        8,
        "lines in each set of either cache",
        unit="lines",
        source="no source gives it",
        standing=Standing.INVENTED,
        allowed=(1, 2, 4, 8, 16),
    )
    l2_cycles: int = param(
        15,
        "a thread waits for a line of the L2 slice",
        unit="cycles",
        source="Intel, Xeon Phi tuning note: 15 to 30; a descendant",
        standing=Standing.INVENTED,
        low=1,
        high=1000,
    )
    memory_cycles: int = param(
        300,
        "a thread waits for a line of memory",
        unit="cycles",
        source="no source gives it; Intel, Xeon Phi tuning note: 500 to 1000 on a descendant",
        standing=Standing.INVENTED,
        low=1,
        high=10000,
    )


@dataclass(frozen=True)
class Costs:
    """What the model needs of each instruction of a program, by its number."""

    config: CoreConfig
    depends: tuple[Dependences, ...]
    families: tuple[Family, ...]
    either: tuple[bool, ...]
    """Whether it may issue in the secondary pipe."""
    branches: tuple[bool, ...]
    latency: tuple[int, ...]
    """From its issue, where it holds its pipe for one cycle, to that of an instruction that uses its result."""

    @classmethod
    def of(cls, program: VectorProgram, config: CoreConfig) -> Costs:
        """Return the costs of a program's instructions."""
        declarations = [each.declaration for each in program.instructions]
        depends = tuple(dependences(each) for each in program.instructions)
        families = tuple(each.family for each in declarations)
        return cls(
            config=config,
            depends=depends,
            families=families,
            either=tuple(each.unit is Pipe.EITHER for each in declarations),
            branches=tuple(family is Family.BRANCH for family in families),
            latency=tuple(_latency(config, *each) for each in zip(families, depends, strict=True)),
        )


def _latency(config: CoreConfig, family: Family, depends: Dependences) -> int:
    if not family.vector:
        return config.scalar_latency
    return config.vector_latency + (config.load_op_cycles if depends.memory else 0)


class Core:
    """Counts cycles of threads from what they carried out; a listener of `VectorUnit.run`."""

    def __init__(self, program: VectorProgram, threads: int = 1, config: CoreConfig | None = None) -> None:
        self.config = config or CoreConfig()
        self._costs = Costs.of(program, self.config)
        names = {name for each in self._costs.depends for name in each.reads | each.writes}
        self._available = {name: np.zeros(threads, np.int64) for name in names}
        self._free = np.zeros(threads, np.int64)
        self._slot = np.full(threads, -1, np.int64)
        """The cycle whose secondary pipe is still free, or -1."""
        self.paired = np.zeros(threads, np.int64)
        """Instructions that issued beside another one."""
        self.waited = np.zeros(threads, np.int64)
        """Cycles in which nothing issued because a result was not there yet."""
        self.counts: dict[Family, NDArray[np.int64]] = {family: np.zeros(threads, np.int64) for family in Family}
        """Instructions carried out, by family."""
        self.lines = np.zeros(threads, np.int64)
        """Cache lines touched."""

    @property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles from the first issue to the end of the last instruction's issue, for each thread."""
        return self._free.copy()

    @property
    def vector_share(self) -> float | None:
        """Share of the vector unit's instructions in all that were carried out; None before any was."""
        total = sum(int(counts.sum()) for counts in self.counts.values())
        vector = sum(int(counts.sum()) for family, counts in self.counts.items() if family.vector)
        return vector / total if total else None

    def __call__(self, number: int, active: NDArray[np.bool_], lines: NDArray[np.int64]) -> None:
        """Charge an instruction to the threads that carried it out, each with the lines that it touched."""
        touched = (lines >= 0).sum(axis=1)
        costs, depends = self._costs, self._costs.depends[number]
        ready = np.zeros(len(active), np.int64)
        for name in depends.reads:
            np.maximum(ready, self._available[name], out=ready)
        held = np.maximum(touched, 1)
        beside = np.zeros(len(active), np.bool_)
        if self.config.dual_issue and costs.either[number]:
            beside = (self._slot >= 0) & (ready <= self._slot)
            for name in depends.writes:
                # Two instructions of one cycle do not write the same register.
                beside &= self._available[name] <= self._slot
        issue = np.where(beside, self._slot, np.maximum(self._free, ready))
        alone = active & ~beside
        beside &= active
        self.waited += np.where(alone, issue - self._free, 0)
        self.paired += beside
        self.counts[costs.families[number]] += active
        self.lines += np.where(active, touched, 0)
        rest = 1 if self.config.back_to_back else 2
        end = np.maximum(issue + np.maximum(held, rest), np.where(beside, self._free, 0))
        self._free = np.where(active, end, self._free)
        self._slot = np.where(active, np.where(alone & (not costs.branches[number]), issue, -1), self._slot)
        done = issue + held - 1 + costs.latency[number]
        for name in depends.writes:
            self._available[name] = np.where(active, done, self._available[name])
