"""Tessellation of Bezier patches on the simulated machine: the function that a user calls, and its result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pixelflow.caveats import coded
from pixelflow.config import THESIS, NodeConfig, config_of
from pixelflow.node import Node, Run, stages_of
from pixelflow.simd.errors import Fault, InputError, must_be
from pixelflow.simd.report import (
    Json,
    RasterImage,
    Report,
    Shown,
    counted,
    number,
    overview,
    plain_table,
    plural,
    six_digits,
)
from tessellation.host.ledger import PatchLedger, balance
from tessellation.host.session import (
    CachingSession,
    KeptResults,
    PassBegins,
    PassResult,
    Session,
    check_nets,
    cycles_of_gps,
    gp_cycles,
    new_session,
    operations,
    sampled_by_gps,
)
from tessellation.microprogram.method import Method, library_for
from tessellation.microprogram.passes import Plan
from tessellation.plan.mapping import square_lanes
from tessellation.plan.schedule import Stage
from tessellation.plan.texture_layout import HeldTexture, TextureSpace
from tessellation.surface import bpt
from tessellation.surface.mesh import Mesh, build_mesh
from tessellation.surface.patch import Patch, trimmed
from tessellation.surface.reference import LIMIT, PatchSamples, evaluate, measure
from tessellation.surface.trim_curves import crossings

# Pictures of meshes and of files of patches, for notebooks.


_WIDTH, _HEIGHT = 176, 132
"""Small, since a saved notebook holds pictures as text."""
_SAMPLES = 8
"""Samples along u and along v, for a picture of a patch file."""
_MOST_PATCHES = 2_000
"""Most patches of a picture; more would take seconds."""


def shaded(mesh: Mesh) -> RasterImage:
    """Return a small shaded picture of a mesh; raises InputError if no triangle has an area."""
    from tessellation.picture.camera import View
    from tessellation.picture.preview import pixels

    return pixels(mesh, View(width=_WIDTH, height=_HEIGHT), counted(len(mesh.triangles), "triangle"))


def load(name: str | Path) -> bpt.PatchFile:
    """Return the built-in model of that name (``teapot``, ``enneper``), or else the patches of that file."""
    must_be(name, (str, Path), "the name of a model or of a file")
    return replace(bpt.load(name), drawer=_drawn)


def _drawn(file: bpt.PatchFile) -> RasterImage | None:
    """Return a picture of the exact surfaces, evaluated by the host; None for too many, or if none has an area."""
    if len(file.patches) > _MOST_PATCHES:
        return None
    samples = sampled_by_gps(file.patches, dict.fromkeys(range(len(file.patches)), _SAMPLES))
    try:
        mesh = build_mesh(list(samples.values()), weld=False)
        return replace(shaded(mesh), caption=f"{file.name}, drawn by the host")
    except InputError:
        return None


# An account of trims for reports: the work of the array, and the uncounted work of the GPs.


class TrimAccount(NamedTuple):
    """The trims of a tessellation and of its mesh.

    ``segments`` replace ``curves`` Bezier pieces; ``broadcast`` counts those that a row of samples meets, and those
    of samples on u = 1. ``outside`` of ``samples`` are not part of a trimmed patch. ``points`` are vertices other than
    samples, which GPs evaluate in ``gp_cycles`` by formula. ``bound`` is the largest distance of the triangles' sides
    from the trim curves, in units of the model.
    """

    patches: int
    loops: int
    curves: int
    segments: int
    broadcast: int
    samples: int
    outside: int
    cut_triangles: int
    points: int
    gp_cycles: int
    bound: float
    tolerance: float

    @property
    def not_counted(self) -> tuple[str, ...]:
        """Uncounted work of the GPs, with its size."""
        return (
            f"{coded('trims on the GPs', 'PF203')}: {counted(self.curves, 'curve')} "
            f"into {counted(self.segments, 'segment')}, "
            f"{counted(self.cut_triangles, 'triangle')} at them, "
            f"and {counted(self.points, 'point')} of these evaluated, {number(self.gp_cycles)} cycles by formula",
        )

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each fact; without a name it continues from the one before."""
        trims = f"{counted(self.loops, 'loop')} of {plural(self.patches, 'patch')}"
        outside = f"{number(self.outside)} of {counted(self.samples, 'sample')} outside"
        return (
            ("trims", f"{trims}; {outside}, by {counted(self.broadcast, 'segment')} broadcast"),
            ("", f"sides of triangles within {six_digits(self.bound)} units of their curves"),
        )  # fmt: skip

    def as_object(self) -> dict[str, Json]:
        """Return everything for JSON."""
        return {
            "patches": self.patches,
            "loops": self.loops,
            "curves": self.curves,
            "segments": self.segments,
            "broadcast": self.broadcast,
            "samples": self.samples,
            "samples_outside": self.outside,
            "triangles_of_cut_cells": self.cut_triangles,
            "points_on_gps": self.points,
            "gp_cycles_by_formula": self.gp_cycles,
            "tolerance": self.tolerance,
            "bound": self.bound,
        }


def trim_account(patches: Sequence[PatchSamples], mesh: Mesh, config: NodeConfig) -> TrimAccount | None:
    """Return the account of a tessellation's patches and their mesh; None if no patch is trimmed."""
    segments = [(each, trimmed(each.patch, each.trim_tolerance)) for each in patches]
    polygons = [(each, polygon) for each, polygon in segments if polygon is not None]
    trims = [each.patch.trim for each, _ in polygons if each.patch.trim is not None]
    if not trims:
        return None
    spent = sum(
        count * operations(*each.patch.counts) for each, count in zip(patches, mesh.built.border_points, strict=True)
    )
    return TrimAccount(
        patches=len(trims),
        loops=sum(len(trim.loops) for trim in trims),
        curves=sum(trim.curves for trim in trims),
        segments=sum(len(polygon) for _, polygon in polygons),
        broadcast=sum(1 for each, polygon in polygons for _ in crossings(polygon, each.samples)),
        samples=sum(each.samples**2 for each, _ in polygons),
        outside=sum(int((~each.inside).sum()) for each, _ in polygons),
        cut_triangles=mesh.built.cut_triangles,
        points=sum(mesh.built.border_points),
        gp_cycles=math.ceil(cycles_of_gps(spent, config)),
        bound=max(polygon.bound for _, polygon in polygons),
        tolerance=polygons[0][0].trim_tolerance,
    )


def trims_of(done: Tessellation) -> TrimAccount | None:
    """Return the account of a tessellation, with its mesh made for it; None if no patch is trimmed."""
    if all(each.patch.trim is None for each in done.patches):
        return None
    return trim_account(done.patches, done.mesh(weld=True), done.config)


def together(accounts: Sequence[TrimAccount]) -> TrimAccount | None:
    """Return the account of several tessellations one after the other; None if there are none."""
    if not accounts:
        return None
    names = [each for each in TrimAccount._fields if each not in ("bound", "tolerance")]
    sums = {name: sum(getattr(each, name) for each in accounts) for name in names}
    return accounts[0]._replace(**sums, bound=max(each.bound for each in accounts))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tessellation(Shown):
    """The samples of all patches in the caller's order, and the account of making them.

    ``runs`` is the machine's account of each pass; every cycle count is the sum of what was executed.
    """

    patches: tuple[PatchSamples, ...]
    plans: tuple[Plan, ...]
    runs: tuple[Run, ...]
    library: str
    engine: str
    method: Method
    config: NodeConfig
    wall_seconds: float
    ledger: PatchLedger
    """Patches, blocks and samples: marked, placed, and returned."""
    refused: Mapping[int, str] = field(default_factory=dict)
    """Patches, by their place in the caller's order, that took counted passes of floats in place of sums in fixed
    point, and why."""
    loads: tuple[Run, ...] = ()
    """The machine's account of the load of the database from the GPs, once a session."""
    kept: KeptResults | None = None
    """The account of keeping the results of each pass in texture memory, if the method does."""
    space: TextureSpace | None = None
    """Owners of the parts of texture memory."""
    textures: tuple[HeldTexture, ...] = ()
    """Pictures in texture memory, each texel of which was unchanged at the end."""
    recalls: tuple[Run, ...] = ()
    """The accounts of bringing kept results back, which ``patches`` then holds."""
    on_gps: tuple[int, ...] = ()
    """Patches, by their place in the caller's order, that the GPs made since the passes had no room for them."""
    gp_cycles: int = 0
    """Cycles of the GPs for these, by formula."""
    is_stored: bool = False
    """True if it comes from the store: an earlier process executed its runs."""

    def __repr__(self) -> str:
        passes = f"{len(self.runs)} pass{'es' * (len(self.runs) != 1)}"
        return f"Tessellation({self._size}, {passes}, {self.cycles} cycles, engine {self.engine})"

    @property
    def _size(self) -> str:
        samples = sum(each.samples**2 for each in self.patches)
        return f"{plural(len(self.patches), 'patch')}, {counted(samples, 'sample')}"

    def report(self) -> Report:
        """Return the amount of work, the machine, and the cycles of each stage."""
        facts = (
            ("made", self._size),
            ("passes", f"{len(self.runs)}"),
            ("library", self.library),
            ("machine", f"{self.config.lanes:,} PEs at {self.config.clock_mhz} MHz"),
            ("engine", self.engine),
        )
        stages = plain_table(("stage", "cycles"), tuple(self.cycles_by_stage.items()), key="stages")
        return overview(f"tessellation of {self.cycles:,} cycles", facts, (stages,))

    @property
    def cycles(self) -> int:
        """EMC cycles of all passes."""
        return sum(run.cycles for run in self.runs)

    @property
    def seconds_at_clock(self) -> float:
        """Machine time of all passes in seconds."""
        return self.config.seconds(self.cycles)

    @property
    def cycles_by_stage(self) -> dict[str, int]:
        """Cycles of each stage over all passes, in the order in which the stages first run."""
        total = stages_of(self.runs)
        return {stage.value: total[stage.value] for stage in Stage if total.get(stage.value)}

    @property
    def load_cycles(self) -> int:
        """Cycles of the load of the database from the GPs, which ``cycles`` leaves out; 0 if it is not executed."""
        return sum(run.cycles for run in self.loads)

    @property
    def return_cycles(self) -> int:
        """Cycles in which results went into GP memory, hidden or not, on the busiest of the paths."""
        paths = [f"store{gp}" for gp in range(self.config.gni.gp_count)]
        return max(sum(run.gni_cycles.get(path, 0) for run in self.runs) for path in paths)

    @property
    def cycles_in_thesis(self) -> int:
        """Cycles of the stages that the thesis counts: base addresses, Bernstein values, arithmetic (tables 3, 4,
        7).
        """
        sums = (Stage.POINTS, Stage.DERIVATIVES, Stage.INNER, Stage.OUTER, Stage.FLOATS)
        inside = (Stage.ADDRESSES, Stage.BERNSTEIN, *sums, Stage.NORMALS)
        return sum(self.cycles_by_stage.get(stage.value, 0) for stage in inside)

    @property
    def control_points(self) -> str:
        """How the control points reached the PEs: ``texture`` or ``lee``."""
        return self.method.control_points

    @property
    def gps(self) -> int | None:
        """Number of GPs that took the results, None if none did."""
        return self.method.gps_of(self.config) if self.method.to_gps else None

    @property
    def not_counted(self) -> tuple[str, ...]:
        """Work outside the counted runs, in words."""
        on_gps = f"{plural(len(self.on_gps), 'patch')} on the GPs, {number(self.gp_cycles)} cycles by formula"
        return (*self.method.not_counted, *((coded(on_gps, "PF205"),) if self.on_gps else ()))

    @property
    def samples(self) -> int:
        """Samples of all patches."""
        return sum(patch.samples**2 for patch in self.patches)

    @property
    def degenerate(self) -> int:
        """Samples without a usable normal."""
        return int(_together(patch.degenerate for patch in self.patches).sum())

    @property
    def lost_normals(self) -> int:
        """Degenerate samples whose direction binary32 could resolve: the squared length under- or overflowed."""
        undetermined = _together(patch.undetermined for patch in self.patches)
        return int((_together(patch.degenerate for patch in self.patches) & ~undetermined).sum())

    @property
    def worst_point_error(self) -> float:
        """Largest |point - reference| in units of 2^-24 magnitude; up to 8 is within the limit."""
        return float(_together(patch.point_errors for patch in self.patches).max(initial=0.0))

    @property
    def worst_normal_error(self) -> float:
        """Largest |normal - reference| in units of 2^-24 condition, degenerate samples left out; up to 8 is allowed."""
        return float(np.nanmax(_together(patch.normal_errors for patch in self.patches), initial=0.0))

    @property
    def within_limits(self) -> bool:
        """True if every point and every normal that is not degenerate is within its limit."""
        return max(self.worst_point_error, self.worst_normal_error) <= LIMIT

    def mesh(self, *, weld: bool = False, outward: bool = False) -> Mesh:
        """Return the triangles: one vertex per sample, or with ``weld`` one per shared sample; see build_mesh()."""
        return build_mesh(self.patches, weld=weld, outward=outward, drawer=shaded)

    def picture(self) -> RasterImage | None:
        """Return a shaded picture of the mesh, for a notebook."""
        return self.mesh().picture()


def _together(arrays: Iterable[np.ndarray]) -> np.ndarray:
    """Return the elements of arrays of any shape, one after the other."""
    return np.concatenate([np.zeros(0, bool), *(array.reshape(-1) for array in arrays)])


def tessellate(
    patches: bpt.PatchFile | Sequence[Patch],
    samples: int | Sequence[int] = 16,
    *,
    library: str | None = None,
    engine: str = "auto",
    config: NodeConfig | str = THESIS,
    method: Method | None = None,
    textures: Mapping[str, np.ndarray] | None = None,
    passes: int | None = None,
    progress: Callable[[PassBegins], object] | None = None,
    watch: Callable[[Node], None] | None = None,
    after: Callable[[Session, Plan], None] | None = None,
) -> Tessellation:
    """Compute points and unit normals of patches, or of a patch file, at k x k parameters by microcode on a node.

    ``samples`` is k for all patches or one k per patch, 2 to 64; u = i/(k-1) and v = j/(k-1). More than 16 need patches
    in two modules, more than 32 in four. ``library`` is one of ``LIBRARIES``; None chooses ``tuned``, or
    ``tuned-finite`` for the schedule of shared columns if the control points are small enough that nothing can
    overflow. ``engine`` is the name of a lane engine, or ``auto`` for the fastest that is installed. ``method`` chooses
    the way of the control points and the order of work. ``textures`` are pictures by name, uint8[row, column, rgba],
    held in texture memory with the patches. ``passes`` limits the passes: patches without room in them are left to the
    GPs, by formula (4.1). ``progress`` is called before each pass.
    ``watch`` is called with the node before it runs, to subscribe to its bus. ``after`` is called after each pass,
    while its points and normals are in PE memory; it may run programs that leave these unchanged. Raises InputError for
    an unsupported net or sample count.
    """
    begin = time.perf_counter()
    config = config_of(config)
    must_be(method, (Method, type(None)), "a Method")
    patches, counts = _checked(patches), [samples] if isinstance(samples, int) else samples
    if isinstance(samples, bool | str):
        message = f"expected a number of samples, or one for each patch, found {type(samples).__name__} {samples!r:.40}"
        raise InputError(Fault(message))
    must_be(counts, Sequence, "a number of samples, or one for each patch")
    for each in counts:
        must_be(each, (int, np.integer), "a whole number of samples")
    counts = [int(each) for each in counts] * (len(patches) if isinstance(samples, int) else 1)
    if not patches:
        raise InputError(Fault("there are no patches to tessellate"))
    if len(counts) != len(patches):
        raise InputError(Fault(f"{counted(len(counts), 'sample count')} for {plural(len(patches), 'patch')}"))
    method = Method() if method is None else method
    check_nets(patches)
    refused = {index: why for index, patch in enumerate(patches) if (why := method.refusal(patch)) is not None}
    # Normals in fixed-point passes know no scale, so that only patches of floats can overflow.
    floats = library_for(library, [patches[index] for index in refused], finite=method.shares_columns)
    session = new_session(config, engine, floats, method)
    session.after = after
    for patch, k in zip(patches, counts, strict=True):
        session.add(patch, k)
    held = tuple(session.hold(name, texels) for name, texels in (textures or {}).items())
    marked, on_gps = session.divided(dict(enumerate(counts)), passes)
    if watch is not None:
        watch(session.node)
    results = session.tessellate(marked, progress)
    recalled = session.recall() if isinstance(session, CachingSession) else ()
    for one, laid in zip(held, (textures or {}).values(), strict=True):
        session.check_held(one, laid)
    found = collect(recalled or results, patches, config, method)
    ledger = balance(len(patches), marked, results, found, config.array, to_gps=method.to_gps)
    found |= sampled_by_gps(patches, on_gps, single=method.single_database, share=method.trim_tolerance)
    return Tessellation(
        patches=tuple(found[index] for index in range(len(patches))),
        plans=tuple(result.plan for result in results),
        runs=tuple(result.run for result in results),
        library=floats.name,
        refused=refused if method.fixed_sums else {},
        engine=session.node.engine,
        method=method,
        config=config,
        ledger=ledger,
        wall_seconds=time.perf_counter() - begin,
        loads=tuple(result.load for result in results if result.load is not None),
        kept=session.kept if isinstance(session, CachingSession) else None,
        space=session.database.space,
        textures=held,
        recalls=tuple(result.run for result in recalled),
        on_gps=tuple(sorted(on_gps)),
        gp_cycles=gp_cycles(patches, on_gps, config),
    )


def _checked(patches: bpt.PatchFile | Iterable[Patch]) -> list[Patch]:
    """Return patches, or those of a file, as a list; raises InputError for anything else."""
    hint = 'load("teapot") gives those of a model'
    if isinstance(patches, bpt.PatchFile):
        return list(patches.patches)
    if isinstance(patches, str) or not isinstance(patches, Iterable):
        raise InputError(Fault(f"patches to tessellate are a list of Patch, not {type(patches).__name__}", hint=hint))
    listed = list(patches)
    for at, each in enumerate(listed):
        if not isinstance(each, Patch):
            raise InputError(Fault(f"patch {at + 1} is not a Patch but {type(each).__name__}", hint=hint))
    return listed


def collect(
    results: Iterable[PassResult], patches: Sequence[Patch], config: NodeConfig, method: Method
) -> dict[int, PatchSamples]:
    """Return the samples of each patch of some passes, compared with the reference."""
    found: dict[int, PatchSamples] = {}
    for result in results:
        work = result.plan.work
        for k in work.sizes:
            placements = [placement for placement in work.placements if placement.samples == k]
            members = [patches[placement.patch] for placement in placements]
            lanes = square_lanes(placements, k, config.array)
            nets = np.stack([patch.points for patch in members])
            reference = evaluate(nets, k, single=method.single_database)
            share = method.trim_tolerance
            measured = measure(members, result.points[lanes], result.normals[lanes], reference, share)
            found.update({place.patch: samples for place, samples in zip(placements, measured, strict=True)})
    return found
