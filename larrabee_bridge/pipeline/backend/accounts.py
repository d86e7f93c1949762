"""What the programs of a tile's threads cost: cycles by stage, instructions by family, as they were carried out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from larrabee_bridge.pipeline.backend.programs import TileStage, program_of, stages_of
from larrabee_bridge.pipeline.backend.texture_unit import TextureConfig
from larrabee_bridge.vpu.core import Core, CoreConfig, SharedCore
from larrabee_bridge.vpu.core.works import WorkRecord
from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.unit.note import RunNote
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
    """Cycles of every tile: of its threads alone on a core, and of the core on which they take turns.

    Thread 0 sets up, threads 1 to 3 work.
    """

    tiles: int
    config: CoreConfig
    engine: str = AUTO
    texture: TextureConfig = field(default_factory=TextureConfig)
    cycles: np.ndarray = field(init=False)
    """int64[tile, thread]."""
    shared: dict[int, SharedCore] = field(init=False)
    """What the core of each tile did, by the tile's number."""
    requested: np.ndarray = field(init=False)
    """Texture requests of each tile so far: int64[tile]."""
    record: WorkRecord = field(init=False)
    """Of tiles that are not timed yet."""
    stages: dict[TileStage, np.ndarray] = field(init=False)
    """Cycles of all threads of a tile by stage: int64[tile] each; their sum is that of ``cycles``."""
    families: dict[VectorFamily, int] = field(init=False)
    lines: int = 0
    """Cache lines touched."""

    def __post_init__(self) -> None:
        self.cycles = np.zeros((self.tiles, THREADS), np.int64)
        self.shared = {}
        self.requested = np.zeros(self.tiles, np.int64)
        latency = self.texture.latency, self.texture.switch_cycles
        self.record = WorkRecord(self.config, queue=self.config.queued_quads, unit=latency, workers=(0, 0, 1, 2))
        self.stages = {stage: np.zeros(self.tiles, np.int64) for stage in TileStage}
        self.families = dict.fromkeys(VectorFamily, 0)

    def turns(self) -> np.ndarray:
        """Return the cycles of a core for each tile: int64[tile]; 0 where nothing was done."""
        found = np.zeros(self.tiles, np.int64)
        for tile, core in self.shared.items():
            found[tile] = core.cycles
        return found

    def finish(self) -> None:
        """Time the tiles that are recorded."""
        self.shared |= self.record.count()

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
    ) -> list[tuple[np.ndarray, RunNote]]:
        """Run a program on threads side by side and charge them; return what they carried out, with their numbers.

        ``tile`` and ``thread`` say whose each is, ``scalars`` and ``masks`` what its registers r and k begin with,
        ``work`` how much it has to do, so that threads of about as much are run together.
        """
        program, stages = program_of(name, **parameters), stages_of(name, **parameters)
        found = list(dict.fromkeys(stages))
        parts = [found.index(stage) for stage in stages]
        order = np.argsort(-work, kind="stable")
        runs = []
        for start in range(0, len(order), _TOGETHER):
            these = order[start : start + _TOGETHER]
            unit = VectorUnit(program, len(these), memory, self.engine)
            core = Core(program, len(these), self.config, parts)
            for register, values in scalars.items():
                unit.set_scalar(register, values[these])
            for register, mask in (masks or {}).items():
                unit.set_mask(register, mask)
            notes: list[RunNote] = []
            unit.run(notes.append, lines=True)
            note = RunNote.joined(notes)
            core(note)
            runs.append((these, note))
            whose, which = tile[these], thread[these]
            np.add.at(self.cycles, (whose, which), core.cycles)
            for stage, cycles in zip(found, core.by_part.T, strict=True):
                np.add.at(self.stages[stage], whose, cycles)
            for family, counts in core.counts.items():
                self.families[family] += int(counts.sum())
            self.lines += int(core.lines.sum())
        return runs
