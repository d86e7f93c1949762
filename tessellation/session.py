"""A session of tessellation passes on one node: patches registered once, tessellated as often as one likes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from microcode import Program
from pixelflow.config import NodeConfig
from pixelflow.errors import Fault, InputError
from pixelflow.node import Node, Run
from tessellation.gp_traffic import COARSE, FINE, load, received
from tessellation.libraries import FloatLibrary
from tessellation.mapping import Marked, Pass, allocate, allocate_modules, blocks_of
from tessellation.memory_map import AXES, MemoryMap
from tessellation.passes import Method, PassWork, pass_program
from tessellation.patch import MAX_COUNT, MIN_COUNT, Patch
from tessellation.schedule import BATCH_VALUES
from tessellation.texture_layout import ModuleChoice, Stored, TextureDatabase, write

__all__ = ["PassResult", "Plan", "Session", "check_nets"]

SUPPORTED = range(MIN_COUNT, MAX_COUNT + 1)
"""Control points a side that a pass can work on."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A pass and the net size that all its patches have; ``first`` configures the LEE, once a session."""

    memory: MemoryMap
    work: Pass
    first: bool


@dataclass(frozen=True, slots=True, eq=False)
class PassResult:
    """What one pass left in PE memory, per lane, and its account."""

    plan: Plan
    run: Run
    load: Run | None
    """The load of the database from the GPs before this pass, where there was one."""
    points: np.ndarray
    normals: np.ndarray


@dataclass(slots=True)
class _Registered:
    """A patch of a session: where its control values lie, and in which modules."""

    patch: Patch
    modules: tuple[int, ...]
    stored: Stored | None


class Session:
    """One node with a patch database, and the passes that run on it."""

    def __init__(self, config: NodeConfig, engine: str, library: FloatLibrary, method: Method) -> None:
        """Raises InputError where the node has no room for that replication."""
        self.config = config
        self.node = Node(config, engine)
        self.library = library
        self.method = method
        self._database = TextureDatabase(config.sdram, config.array.modules, both_banks=method.both_banks(config))
        self._choices: dict[tuple[int, int], ModuleChoice] = {}
        self._patches: list[_Registered] = []
        self._configured = False
        ModuleChoice(config.array.modules, method.replication)

    def add(self, patch: Patch, samples: int | None = None) -> int:
        """Register a patch and return its number: choose its modules and give it addresses in texture memory.

        The modules are those with the fewest patches of this net, or with the fewest blocks where ``samples`` is
        known. Raises InputError for a net that the machine cannot do, and where texture memory is full.
        """
        check_nets([patch], first=len(self._patches))
        modules, stored = (), None
        if self.method.from_texture:
            new = ModuleChoice(self.config.array.modules, self.method.replication)
            choice = self._choices.setdefault(patch.counts, new)
            modules = choice.next(blocks_of(samples) if samples else 1)
            stored = self._database.store(self.method.values(patch), modules)
        self._patches.append(_Registered(patch, modules, stored))
        return len(self._patches) - 1

    @property
    def texture_bytes(self) -> tuple[int, ...]:
        """Bytes of texture memory that the patches take in each module."""
        return self._database.used_bytes

    def plan(self, marked: Mapping[int, int]) -> tuple[Plan, ...]:
        """Return the passes for patches by number, with their samples: nets of one size share passes.

        Raises InputError for sample counts that the machine has no room for.
        """
        plans: list[Plan] = []
        by_net: dict[tuple[int, int], list[int]] = {}
        for number in marked:
            by_net.setdefault(self._patches[number].patch.counts, []).append(number)
        for counts in sorted(by_net):
            members = sorted(by_net[counts])
            memory = self.method.layout(counts)
            for work in self._allocate(members, marked):
                plans.append(Plan(memory, work, first=not plans and not self._configured))
        return tuple(plans)

    def _allocate(self, members: list[int], marked: Mapping[int, int]) -> tuple[Pass, ...]:
        array = self.config.array
        if not self.method.from_texture:
            return allocate([marked[number] for number in members], array, members)
        ready = [Marked(number, marked[number], self._patches[number].modules) for number in members]
        return allocate_modules(ready, array, raster=self.method.raster)

    def program(self, plan: Plan) -> Program:
        """Return the program of one pass."""
        numbers = [placement.patch for placement in plan.work.placements]
        work = PassWork(
            memory=plan.memory,
            work=plan.work,
            configure=plan.first,
            patches={number: self._patches[number].patch for number in numbers},
            stored={number: self._patches[number].stored for number in numbers if self._patches[number].stored},
        )
        return pass_program(work, self.library, self.config, self.method)

    def run(self, plan: Plan) -> PassResult:
        """Run one pass and read points and normals of all PEs: float32[lanes, xyz]; load what is not loaded yet."""
        loaded = None
        if self.method.load == "gp":
            loaded = load(self._database, self.node)
        else:
            write(self._database, self.node)
        run = self.node.run(self.program(plan))
        self._configured = True
        if self.method.results != "direct":
            parts = FINE if self.method.results == "gp-fine" else COARSE
            points, normals = received(self.node, plan.work, parts)
        else:
            points, normals = (
                np.stack([self.node.read_float(plan.memory[f"{axis}_{what}"].start) for axis in AXES], axis=-1)
                for what in ("point", "normal")
            )
        return PassResult(plan, run, loaded, points, normals)

    def tessellate(
        self, marked: Mapping[int, int], progress: Callable[[str], None] | None = None
    ) -> tuple[PassResult, ...]:
        """Run all passes for the marked patches."""
        plans = self.plan(marked)
        results = []
        for number, one in enumerate(plans, start=1):
            if progress is not None:
                nets = f"{one.memory.rows}x{one.memory.columns}"
                progress(f"pass {number} of {len(plans)}: {len(one.work.placements)} patches of {nets} control points")
            results.append(self.run(one))
        return tuple(results)


def check_nets(patches: list[Patch], first: int = 0) -> None:
    """Raise InputError for nets that no pass can work on; ``first`` is the index of the first patch."""
    allowed = f"allowed: {SUPPORTED[0]} to {SUPPORTED[-1]} a side (batches of {BATCH_VALUES} values)"
    faults = [
        Fault(f"patch {index + 1} has {patch.counts[0]}x{patch.counts[1]} control points", hint=allowed)
        for index, patch in enumerate(patches, start=first)
        if not all(count in SUPPORTED for count in patch.counts)
    ]
    if faults:
        raise InputError(faults[:20])
