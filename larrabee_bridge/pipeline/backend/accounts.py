"""What the programs of a tile's threads cost: cycles by stage, instructions by family, as they were carried out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from larrabee_bridge.pipeline.backend.programs import TileStage, program_of, stages_of
from larrabee_bridge.vpu.core import Core, CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.lanes.choice import AUTO
from pixelflow.simd.lanes.wide.bytememory import ByteMemory

__all__ = ["THREADS", "Accounts"]

THREADS = 4
"""One set-up thread and three work threads (Seiler et al. 2008, 4.5)."""

_TOGETHER = 4096
"""Threads that are run side by side: more of them share the cost of an instruction, fewer wait for the longest."""


@dataclass(eq=False)
class Accounts:
    """Cycles of every tile's threads, each alone on a core: thread 0 sets up, threads 1 to 3 work."""

    tiles: int
    config: CoreConfig
    engine: str = AUTO
    cycles: np.ndarray = field(init=False)
    """int64[tile, thread]."""
    issuing: np.ndarray = field(init=False)
    """Those of them in which an instruction held a pipe: int64[tile, thread]."""
    stages: dict[TileStage, np.ndarray] = field(init=False)
    """Cycles of all threads of a tile by stage: int64[tile] each; their sum is that of ``cycles``."""
    families: dict[VectorFamily, int] = field(init=False)
    lines: int = 0
    """Cache lines touched."""

    def __post_init__(self) -> None:
        self.cycles = np.zeros((self.tiles, THREADS), np.int64)
        self.issuing = np.zeros((self.tiles, THREADS), np.int64)
        self.stages = {stage: np.zeros(self.tiles, np.int64) for stage in TileStage}
        self.families = dict.fromkeys(VectorFamily, 0)

    def together(self, descents: np.ndarray | int = 0) -> np.ndarray:
        """Return the cycles that a core takes for each tile: int64[tile], a formula on cycles that were carried out.

        Four threads share a core: they take as long as the longest of them alone, or as many cycles as instructions of
        all four hold the pipes, whichever is more. That threads wait for each other beyond that is left out, and so is
        the wait for texels, which fibers hide (4.5). ``descents`` are cycles of the rasterizer's descents, int64[tile],
        where the set-up thread carries them out; they are taken to hold the pipes all the time.
        """
        alone = self.cycles.copy()
        alone[:, 0] += descents
        return np.maximum(alone.max(axis=1), self.issuing.sum(axis=1) + descents)

    def run(
        self,
        name: str,
        parameters: dict[str, int],
        memory: ByteMemory,
        tile: np.ndarray,
        thread: np.ndarray,
        scalars: dict[int, np.ndarray],
        work: np.ndarray,
        masks: dict[int, int] | None = None,
    ) -> None:
        """Run a program on threads side by side and charge them.

        ``tile`` and ``thread`` say whose each is, ``scalars`` and ``masks`` what its registers r and k begin with,
        ``work`` how much it has to do, so that threads of about as much are run together.
        """
        program, stages = program_of(name, **parameters), stages_of(name, **parameters)
        found = list(dict.fromkeys(stages))
        parts = [found.index(stage) for stage in stages]
        order = np.argsort(-work, kind="stable")
        for start in range(0, len(order), _TOGETHER):
            these = order[start : start + _TOGETHER]
            unit = VectorUnit(program, len(these), memory, self.engine)
            core = Core(program, len(these), self.config, parts)
            for register, values in scalars.items():
                unit.set_scalar(register, values[these])
            for register, mask in (masks or {}).items():
                unit.set_mask(register, mask)
            unit.run(core)
            whose, which = tile[these], thread[these]
            np.add.at(self.cycles, (whose, which), core.cycles)
            np.add.at(self.issuing, (whose, which), core.issuing)
            for stage, cycles in zip(found, core.by_part.T, strict=True):
                np.add.at(self.stages[stage], whose, cycles)
            for family, counts in core.counts.items():
                self.families[family] += int(counts.sum())
            self.lines += int(core.lines.sum())
