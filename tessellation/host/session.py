"""A session of tessellation passes on one node, whose patches are registered once and tessellated repeatedly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from microcode import Program
from pixelflow.config import NodeConfig
from pixelflow.node import AddressMap, Node, Run
from pixelflow.simd.errors import Fault, InputError, InternalError
from pixelflow.simd.report import counted, plural
from tessellation.microprogram.gp_traffic import RESULT_BYTES, emit_return, load, received
from tessellation.microprogram.method import FloatLibrary, Method
from tessellation.microprogram.passes import PassWork, Plan, pass_program, write_back
from tessellation.microprogram.ports import KeptPass, recall_builder, store_program
from tessellation.microprogram.write_back import WriteBack
from tessellation.plan.fixed import fixed_map
from tessellation.plan.mapping import (
    MAX_SAMPLES,
    MIN_SAMPLES,
    Marked,
    Pass,
    allocate,
    allocate_modules,
    blocks_of,
)
from tessellation.plan.memory_map import AXES
from tessellation.plan.schedule import BATCH_VALUES, surface_order
from tessellation.plan.texture_layout import (
    FAR_WAYS,
    HeldTexture,
    ModuleChoice,
    ResultArea,
    Stored,
    TextureDatabase,
    write,
)
from tessellation.surface.patch import MAX_COUNT, MIN_COUNT, Patch
from tessellation.surface.reference import PatchSamples, evaluate, mark_outside, measure
from tessellation.surface.trim_curves import DEFAULT_TOLERANCE

SUPPORTED = range(MIN_COUNT, MAX_COUNT + 1)
"""Control points a side that a pass can work on."""


_KEPT_PROGRAMS = 16


class PassResult(NamedTuple):
    """Results of one pass in PE memory, per lane, and its account."""

    plan: Plan
    run: Run
    load: Run | None
    """The load of the database from the GPs before this pass, if there was one."""
    points: np.ndarray
    normals: np.ndarray
    arrived: np.ndarray
    """Lanes whose point and normal have arrived: bool[lanes]."""
    taken_bytes: int = 0
    """Bytes that went to the GPs in runs other than this and those of later passes."""


class TakenResults(NamedTuple):
    """Results of a pass that the caller moved: float32[lanes, xyz] each, bool[lanes], and the number of bytes."""

    points: np.ndarray
    normals: np.ndarray
    arrived: np.ndarray
    moved: int


@dataclass(slots=True)
class _Registered:
    """A patch of a session: its modules, and the place of its control values."""

    patch: Patch
    modules: tuple[int, ...]
    stored: Stored | None
    fixed: bool


class PassBegins(NamedTuple):
    """Message before each pass: its number, the number of passes, and its work."""

    number: int
    total: int
    work: str

    def __str__(self) -> str:
        return f"pass {self.number} of {self.total}: {self.work}"


class Session:
    """One node with a patch database, and the passes that run on it."""

    def __init__(
        self, config: NodeConfig, engine: str, library: FloatLibrary, method: Method, *, node: Node | None = None
    ) -> None:
        """Raises InputError if the method needs more modules or GPs than the node has.

        ``node`` is one of that configuration and engine, by default a new one.
        """
        self.config = config
        self.node = Node(config, engine) if node is None else node
        self.library = library
        self.method = method
        self.after: Callable[[Session, Plan], None] | None = None
        """Called as soon as each pass has run, while its points and normals are in PE memory."""
        self.take: Callable[[Plan], TakenResults] | None = None
        """Moves the results of the last pass to the GPs during other work of the node; for results that leave during
        the next pass."""
        self.take_every = False
        """True if it moves those of every pass, so that none leave during the next one."""
        self.database = TextureDatabase(config.sdram, config.array.modules, both_banks=method.both_banks(config))
        self._choices: dict[tuple[tuple[int, int], bool], ModuleChoice] = {}
        self._patches: list[_Registered] = []
        self._configured = False
        self._programs: dict[Plan, Program] = {}
        """Programs of passes that may be repeated, as frames mark the same patches."""
        ModuleChoice(config.array.modules, method.replication)
        method.gps_of(config)

    def add(self, patch: Patch, samples: int | None = None) -> int:
        """Register a patch and return its number: choose its modules and give it addresses in texture memory.

        The modules are those with the fewest patches of this net, or with the fewest blocks if ``samples`` is known.
        Raises InputError for an unsupported net, and if texture memory is full.
        """
        check_nets([patch], first=len(self._patches))
        self.method.trimmed(patch, len(self._patches))
        modules: tuple[int, ...] = ()
        stored = None
        fixed = self.method.refusal(patch) is None
        if self.method.from_texture:
            kind = patch.counts, fixed
            if kind not in self._choices:
                self._choices[kind] = ModuleChoice(self.config.array.modules, self.method.replication)
            choice = self._choices[kind]
            modules = choice.next(blocks_of(samples) if samples else 1)
            stored = self.database.store(self.method.values(patch), modules)
        self._patches.append(_Registered(patch, modules, stored, fixed))
        return len(self._patches) - 1

    def require_alike(self, number: int, patch: Patch) -> None:
        """Raise InputError if a registered patch cannot become this one, because of its size or its trim."""
        one = self._patches[number]
        if patch.counts != one.patch.counts:
            old, new = (f"{rows}x{columns}" for rows, columns in (one.patch.counts, patch.counts))
            message = f"patch {number + 1} has {old} control points and would have {new}"
            raise InputError(Fault(message, hint="add a patch of that size"))
        self.method.trimmed(patch, number)

    def modify(self, number: int, patch: Patch) -> None:
        """Give a registered patch other control points, which are loaded before the next pass.

        Raises InputError like `require_alike`, and if a module has no room left.
        """
        self.require_alike(number, patch)
        one = self._patches[number]
        # Programs contain the places of patches, and through the LEE their control values.
        self._programs.clear()
        stored = None if one.stored is None else self.database.replace(one.stored, self.method.values(patch))
        self._patches[number] = _Registered(patch, one.modules, stored, self.method.refusal(patch) is None)

    def reserve(self, cells: int) -> int:
        """Reserve cells of each SDRAM and return their address; raise InputError if none are left."""
        linear = self.database.reserve(cells * self.config.sdram.devices_per_module)
        return int(AddressMap(self.config.sdram).number_at(linear))

    def hold(self, name: str, texels: np.ndarray) -> HeldTexture:
        """Store a picture, uint8[row, column, rgba]; it is loaded like patches, before the next pass.

        Raises InputError for another shape, and if texture memory has no free rectangle of that size.
        """
        return self.database.hold(name, texels)

    def texels(self, held: HeldTexture, module: int = 0) -> np.ndarray:
        """Return the present texels at the place of a picture, in one module: uint8[row, column, rgba]."""
        space = self.database.space
        return self.node.texture_memory[module].read(space.map.to_physical(space.linear(held.place)))

    def check_held(self, held: HeldTexture, texels: np.ndarray) -> None:
        """Raise InternalError if a stored picture has changed, in any module."""
        for module in range(self.config.array.modules):
            wrong = np.argwhere((self.texels(held, module) != texels).any(axis=-1))
            if len(wrong):
                row, column = wrong[0].tolist()
                raise InternalError(
                    f"texture {held.name}: {len(wrong)} texels of module {module} are not what was laid there, "
                    f"the first in row {row}, column {column}"
                )

    def plan(self, marked: Mapping[int, int]) -> tuple[Plan, ...]:
        """Return the passes for patches by number, with their samples: nets of one size share passes.

        Passes in fixed point have one number of samples, and come before those of patches that need floats. Raises
        InputError for sample counts that the machine has no room for.
        """
        for number, k in marked.items():
            if k > MAX_SAMPLES:
                self._require_wide(number, k)
        plans: list[Plan] = []
        by_net: dict[tuple[int, tuple[int, int]], list[int]] = {}
        for number, k in marked.items():
            one = self._patches[number]
            # Passes in fixed point come first: less than any k is "any".
            by_net.setdefault((-k if one.fixed else 0, one.patch.counts), []).append(number)
        for (fixed, counts), numbers in sorted(by_net.items()):
            members = sorted(numbers)
            memory = fixed_map(-fixed) if fixed else self.method.layout(counts)
            for work in self._allocate(members, marked):
                first = not plans and not self._configured
                plans.append(Plan(memory, work, first=first, fixed=fixed < 0))
        return self._chained(plans) if self.method.coarse else tuple(plans)

    def _require_wide(self, number: int, samples: int) -> None:
        """Raise InputError for a patch that can be sampled by one EMC alone."""
        trimmed = self.method.trimmed(self._patches[number].patch, number) is not None
        if trimmed or self.method.fixed_sums:
            why = "it is trimmed" if trimmed else "sums in fixed point have no weights for these"
            found = f"{counted(samples, 'sample')} for patch {number + 1}: {why}"
            raise InputError(Fault(found, hint=f"allowed: {MIN_SAMPLES} to {MAX_SAMPLES}"))

    def divided(self, marked: Mapping[int, int], passes: int | None) -> tuple[dict[int, int], dict[int, int]]:
        """Return the marked patches that have room in this many passes, and those that go to the GPs (4.1).

        None is as many passes as it takes. Raises InputError for fewer than one.
        """
        if passes is not None and passes < 1:
            raise InputError(Fault(f"{passes} passes", hint="allowed: 1 or more, or None for as many as it takes"))
        on_array, on_gps = dict(marked), {}
        while passes is not None and len(plans := self.plan(on_array)) > passes:
            for place in (place for plan in plans[passes:] for place in plan.work.placements):
                on_gps[place.patch] = on_array.pop(place.patch)
        return on_array, on_gps

    def _chained(self, plans: list[Plan]) -> tuple[Plan, ...]:
        """Let the results of each pass leave during the next one; two areas of GP memory take them in turn."""
        chained: list[Plan] = []
        taken = self.take is not None and not self.method.fine
        if taken and self.take_every:
            return tuple(plan._replace(buffer=number % 2, taken=True) for number, plan in enumerate(plans))
        before = None
        for number, plan in enumerate(plans):
            plan = plan._replace(before=before, buffer=number % 2, last=plan is plans[-1])
            plan = plan._replace(taken=plan.last and taken)
            before = plan.written(self._write_back(plan).own_floats)
            chained.append(plan)
        return tuple(chained)

    def _allocate(self, members: list[int], marked: Mapping[int, int]) -> tuple[Pass, ...]:
        array = self.config.array
        if not self.method.from_texture:
            return allocate([marked[number] for number in members], array, members)
        ready = [Marked(number, marked[number], self._patches[number].modules) for number in members]
        return allocate_modules(ready, array, raster=self.method.raster)

    def _work(self, plan: Plan) -> PassWork:
        numbers = [placement.patch for placement in plan.work.placements]
        patches = {number: self._patches[number].patch for number in numbers}
        places = ((number, self._patches[number].stored) for number in numbers)
        stored = {number: place for number, place in places if place}
        return PassWork(plan, patches, stored)

    def program(self, plan: Plan) -> Program:
        """Return the program of one pass, the same one for a repeated pass."""
        program = self._programs.get(plan)
        if program is None:
            program = pass_program(self._work(plan), self.library, self.config, self.method)
            if len(self._programs) >= _KEPT_PROGRAMS:
                self._programs.clear()
            self._programs[plan] = program
        return program

    def programs(self, marked: Mapping[int, int]) -> tuple[Program, ...]:
        """Return all programs that tessellate the marked patches, in order."""
        return tuple(self.program(plan) for plan in self.plan(marked))

    def run(self, plan: Plan) -> PassResult:
        """Load new patches, run one pass and read points and normals of all PEs: float32[lanes, xyz].

        Raises InputError for a pass whose results leave during another one: see `tessellate`.
        """
        if plan.before is not None or not plan.last:
            raise InputError("a pass whose results leave during another one cannot be run by itself")
        return next(self._run([plan]))

    def tessellate(
        self, marked: Mapping[int, int], progress: Callable[[PassBegins], object] | None = None
    ) -> tuple[PassResult, ...]:
        """Run all passes for the marked patches."""
        plans = self.plan(marked)
        return tuple(self._run(plans, progress))

    def _run(
        self, plans: Sequence[Plan], progress: Callable[[PassBegins], object] | None = None
    ) -> Iterator[PassResult]:
        """Run passes one after the other; yield each as soon as its results have arrived."""
        waiting: tuple[Plan, Run, Run | None] | None = None
        gone: tuple[int, ...] = ()
        for number, plan in enumerate(plans, start=1):
            if progress is not None:
                patches = plural(len(plan.work.placements), "patch")
                work = f"{patches} of {plan.memory.rows}x{plan.memory.columns} control points"
                progress(PassBegins(number, len(plans), work))
            loaded = self._load()
            run = self.node.run(self.program(plan))
            self._configured = True
            if self.after is not None:
                self.after(self, plan)
            beside = self._write_back(plan)
            if waiting is not None:
                yield PassResult(*waiting, *self._received(waiting[0], (*gone, *beside.before_parts)))
            gone = beside.own_parts
            if plan.taken and self.take is not None:
                yield PassResult(plan, run, loaded, *self.take(plan))
            elif plan.last:
                yield PassResult(plan, run, loaded, *self._results(plan, gone))
            waiting = None if plan.last else (plan, run, loaded)

    def _load(self) -> Run | None:
        """Bring new patches and pictures into texture memory; return the account if that was executed."""
        if self.method.load == "gp":
            return load(self.database, self.node)
        write(self.database, self.node)
        return None

    def _write_back(self, plan: Plan) -> WriteBack:
        return write_back(self._work(plan), self.config, self.method)

    def _results(self, plan: Plan, gone: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return points and normals of a pass that has just ended, and the lanes that have them.

        ``gone`` are the sizes of the parts that left during the pass.
        """
        if self.method.to_gps:
            return self._received(plan, (*gone, RESULT_BYTES - sum(gone)))
        points, normals = (
            np.stack([self.node.read_float(plan.memory[f"{axis}_{what}"].start) for axis in AXES], axis=-1)
            for what in ("point", "normal")
        )
        return points, normals, np.ones(self.node.lanes, bool)

    def _received(self, plan: Plan, parts: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return received(self.node, self.method.returned(plan.written(), self.config), parts)


def check_nets(patches: list[Patch], first: int = 0) -> None:
    """Raise InputError for unsupported nets; ``first`` is the index of the first patch."""
    allowed = f"allowed: {SUPPORTED[0]} to {SUPPORTED[-1]} a side (batches of {BATCH_VALUES} values)"
    faults = [
        Fault(f"patch {index + 1} has {patch.counts[0]}x{patch.counts[1]} control points", hint=allowed)
        for index, patch in enumerate(patches, start=first)
        if not all(count in SUPPORTED for count in patch.counts)
    ]
    if faults:
        raise InputError(faults[:20])


# Points and normals kept in texture memory, so that another frame need not tessellate again (thesis 3.7, appendix B).
#
# One of the appendix's ways, procedures of `texture/caching.mc`, writes the results of every PE to an area of its
# module: after each pass by a separate program, or during the computation of the next pass, if there is one. Later,
# other procedures bring them back into the PEs.


class KeptResults(NamedTuple):
    """The cost of keeping the results of a tessellation, except cycles in the accounts of its passes."""

    stores: tuple[Run, ...]
    """The accounts of separate programs that wrote results."""
    beside: tuple[Run, ...]
    """The accounts of passes that wrote the results of the pass before."""
    result_bytes: int
    """Bytes of points and normals in each module."""
    taken_bytes: int
    """Bytes that they take there, including words that stay empty."""
    no_room: int = 0
    """Passes without enough PE memory to write results of the pass before."""


class CachingSession(Session):
    """A session that keeps the results of the last tessellation in texture memory, in the way of its method."""

    def __init__(
        self, config: NodeConfig, engine: str, library: FloatLibrary, method: Method, *, node: Node | None = None
    ) -> None:
        """Raises InputError like `Session`, and if EMCs cannot take turns between the banks."""
        super().__init__(config, engine, library, method, node=node)
        if method.cache in FAR_WAYS and config.array.emcs_per_module % 2:
            emcs = counted(config.array.emcs_per_module, "EMC")
            message = f"{emcs} of a module cannot take turns between two banks"
            raise InputError(Fault(message, hint="choose another way of caching"))
        self._areas: list[ResultArea] = []
        self._kept: list[tuple[Plan, ResultArea]] = []
        self._stores: list[Run] = []
        self._beside: list[Run] = []
        self._kept_beside: list[bool] = []
        self._no_room = 0
        self.kept_patches: tuple[Patch, ...] = ()
        """All patches at the time of the tessellation whose results are kept."""

    @property
    def kept(self) -> KeptResults:
        """The kept results of the last tessellation."""
        lanes = self.node.lanes // self.config.array.modules
        width = self.config.sdram.devices_per_module
        taken = sum(area.taken_cells for _, area in self._kept) * width
        each = len(self._kept) * lanes * RESULT_BYTES
        return KeptResults(tuple(self._stores), tuple(self._beside), each, taken, self._no_room)

    def recall(self) -> tuple[PassResult, ...]:
        """Bring the results of the last tessellation back from texture memory, and to the GPs if the method says so."""
        results = []
        for plan, area in self._kept:
            run = self.node.run(self._recall_program(plan, area))
            results.append(PassResult(plan, run, None, *super()._results(plan, ())))
        return tuple(results)

    def forget(self) -> None:
        """Free the places of all kept results."""
        for area in self._areas:
            self.database.release_results(area)
        self._areas.clear()
        self._clear()

    def _clear(self) -> None:
        """Forget the kept results, but not their places."""
        self._kept.clear()
        self._stores.clear()
        self._beside.clear()
        self._kept_beside.clear()
        self._no_room = 0

    def tessellate(
        self, marked: Mapping[int, int], progress: Callable[[PassBegins], object] | None = None
    ) -> tuple[PassResult, ...]:
        """Run all passes for the marked patches, and keep their results."""
        results = super().tessellate(marked, progress)
        self._beside = [result.run for result in results if result.plan.keeps is not None]
        return results

    def _run(
        self, plans: Sequence[Plan], progress: Callable[[PassBegins], object] | None = None
    ) -> Iterator[PassResult]:
        self._clear()
        self.kept_patches = tuple(each.patch for each in self._patches)
        chained = self._keeping(plans)
        self._no_room = self.method.kept_beside * (len(plans) - 1) - sum(self._kept_beside)
        return super()._run(chained, progress)

    def _keeping(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return the passes, each of which writes the results of the one before, if wanted and if it has room."""
        areas = [self._area(number) for number in range(len(plans))]
        chained = [
            plan._replace(keeps=KeptPass(plans[number - 1].memory, areas[number - 1]))
            if number and self.method.kept_beside and KeptPass.fits(plan.memory)
            else plan
            for number, plan in enumerate(plans)
        ]
        self._kept_beside = [plan.keeps is not None for plan in chained[1:]] + [False]
        return chained

    def programs(self, marked: Mapping[int, int]) -> tuple[Program, ...]:
        """Return the programs of passes, and those that keep results which no next pass keeps."""
        programs: list[Program] = []
        plans = self._keeping(self.plan(marked))
        for plan, area, beside in zip(plans, self._areas, self._kept_beside, strict=False):
            programs.append(self.program(plan))
            if not beside:
                programs.append(store_program(area, plan.memory))
        return tuple(programs)

    def _results(self, plan: Plan, gone: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        number = len(self._kept)
        area = self._area(number)
        if not self._kept_beside[number]:
            self._stores.append(self.node.run(store_program(area, plan.memory)))
        self._kept.append((plan, area))
        return super()._results(plan, gone)

    def _area(self, number: int) -> ResultArea:
        """Return the area of a pass, which later tessellations use again."""
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
    """Return the session for a method: one that keeps results in texture memory, or one that does not."""
    return (Session if method.cache is None else CachingSession)(config, engine, library, method)


# Tessellation on the GPs, of patches without room on the array (thesis 4.1).
#
# A GP is not a part of the simulated machine here: its samples are those of 64-bit floats, rounded once, and its time
# is a *formula*, the operations of section 5 at 240 million a second, the peak of chapter 1.


GP_FLOPS = 240e6
"""Operations of one GP in a second, at its peak (thesis, chapter 1)."""

_NORMAL = 9 + 5 + 1 + 3
"""Multiplications, additions, root and divisions of a unit normal (4.1.3)."""


def operations(rows: int, columns: int) -> int:
    """Return the float operations of a sample with its normal, as the thesis counts them: 282 for a bicubic patch."""
    sums = ((each.rows, each.columns) for each in surface_order(rows, columns))
    return sum(m * n + n + n * (m - 1) + n - 1 for m, n in sums) + _NORMAL


def gp_cycles(patches: Sequence[Patch], marked: Mapping[int, int], config: NodeConfig) -> int:
    """Return, by formula, the node's cycles in which its GPs tessellate patches by number, shared equally."""
    total = sum(k * k * operations(*patches[number].counts) for number, k in marked.items())
    return math.ceil(cycles_of_gps(total, config))


def cycles_of_gps(operations: int, config: NodeConfig) -> float:
    """Return, by formula, the node's cycles in which its GPs do this many float operations, shared equally."""
    return operations / (GP_FLOPS * config.gni.gp_count) * config.clock_mhz * 1e6


def sampled_by_gps(
    patches: Sequence[Patch], marked: Mapping[int, int], *, single: bool = True, share: float = DEFAULT_TOLERANCE
) -> dict[int, PatchSamples]:
    """Return the samples of patches by number; ``single`` is True for control points in binary32.

    ``share`` is the tolerance of trims.
    """
    samples = {}
    for number, k in marked.items():
        patch = patches[number]
        exact = evaluate(patch.points[None], k, single=single)
        normals = np.nan_to_num(exact.normals).astype(np.float32)
        normals[0] = mark_outside(patch, normals[0], share)
        (samples[number],) = measure([patch], exact.points.astype(np.float32), normals, exact, share)
    return samples
