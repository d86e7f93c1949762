"""A picture on Larrabee: triangles on the screen through the front end, all programs executed, and the account.

The cost of a front end does not depend on the camera's matrix. So the corners of a draw, each once, pass through its
programs with a matrix that leaves them in place, and the programs fill the bins. Corners almost 16K pixels away may be
moved by floats: the host fills their bins, for the same cycles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from larrabee_bridge.pipeline.account import counted_by_cores, grounds_of_cores, left_out, work_of_stages
from larrabee_bridge.pipeline.bins import BinRule, begins_of, bin_triangles
from larrabee_bridge.pipeline.frame import PRIMSET, FrameSetting, LarrabeeRun, render_on_larrabee
from larrabee_bridge.pipeline.front_end import DropReason, FrontEndResult, FrontEndSetting, run_front_end
from larrabee_bridge.pipeline.rasterizer import sampled_bins
from larrabee_bridge.pipeline.schedule import FrameWork, Schedule, ScheduleConfig, WorkKind, schedule
from larrabee_bridge.pipeline.texture_unit import TextureConfig
from larrabee_bridge.pipeline.traffic import TileSizes, bin_contents, binned_traffic, corners_of, default_targets
from larrabee_bridge.pipeline.work import measured_work
from larrabee_bridge.vpu.config import CORE_MHZ, CoreConfig, changed, invented
from larrabee_bridge.vpu.core_image import SharedCore
from larrabee_bridge.vpu.isa import LANES
from pixelflow.caveats import coded
from pixelflow.simd.attendance import Telling
from pixelflow.simd.drawing import SUBPIXELS, DrawnFrame, Frame, ScreenTriangles
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.report import TimeSpan, counted


def front_of_screen(
    frame: Frame,
    triangles: ScreenTriangles,
    tile: int = 64,
    config: CoreConfig | None = None,
    engine: str = AUTO,
    *,
    primset: int = PRIMSET,
) -> FrontEndResult | None:
    """Take triangles of a frame to its bins; None without triangles. Bins have the numbers of ``triangles``."""
    if not len(triangles):
        return None
    given = np.concatenate([triangles.corners, triangles.depths[..., None]], axis=-1).reshape(-1, 3)
    # Points in order and once each, as `np.unique` finds them, which compares rows one by one.
    order = np.lexsort(given.T[::-1])
    points, corners = given[order], np.empty(len(given), np.int64)
    new = begins_of(*points.T)
    points, corners[order] = points[new], np.cumsum(new) - 1
    # All at one depth, neither near nor far; it is not used here.
    points[:, 2] = 1
    half_width, half_height = (SUBPIXELS * size / 2 for size in (frame.width, frame.height))
    matrix = np.array([[1 / half_width, 0, 0, -1], [0, -1 / half_height, 0, 1], [0, 0, 0.5, 0], [0, 0, 0, 1]])
    front = run_front_end(
        points,
        np.zeros((len(points), 3), np.uint8),
        corners.reshape(-1, 3),
        matrix,
        FrontEndSetting(frame.width, frame.height, tile, primset, samples=frame.samples),
        config=config,
        engine=engine,
    )
    if front.cut or not np.array_equal(front.triangles.corners, triangles.corners[front.source]):
        # Corners at the end of the range, 16K pixels away: floats may move them by a step, or have them cut.
        size = frame.width, frame.height, tile
        boxes = bin_triangles(triangles, *size, BinRule.BOX) if frame.samples == 1 else sampled_bins(triangles, *size)
        return front._replace(bins=boxes)
    return front._replace(bins=front.bins._replace(triangles=front.source[front.bins.triangles]))


# Drawing on Larrabee: front end, rasterizer and back end run as programs, cores share PrimSets and tiles (Seiler et al.
# 2008, 4 and 5).


_FRAMES = 4
"""Consecutive pictures, which overlap as far as the scheduler allows."""

_WRITTEN = ", written"
_FLOATS = "planes are in floats (planes = float)"

Fronts = Sequence[FrontEndResult | None]
"""Front end of each draw, None without one; empty if all triangles are given on the screen."""


def draw_on_larrabee(
    frame: Frame,
    *,
    parts: int = 1,
    config: CoreConfig | None = None,
    texture: TextureConfig | None = None,
    fronts: Fronts = (),
    tile: int = 64,
    core_mhz: float = CORE_MHZ,
    ideal_memory: bool = False,
    free_setup: bool = False,
    progress: Telling | None = None,
    engine: str = AUTO,
) -> DrawnFrame:
    """Draw a frame on ``parts`` cores side by side; raises InputError for a tile that does not exist.

    ``fronts`` made the frame's triangles from vertices (`project_on_larrabee`, with the same tile): their cycles are
    added, and the rasterizer reads their bins. Without them a front end leaves the corners in place and fills the bins;
    with ``free_setup`` the host does that and computes planes, for no cycles, and bins are those in which a triangle
    covers a sample. With ``ideal_memory`` every access hits. Depths are not read afterwards.
    """
    if progress is not None:
        progress(
            f"larrabee: {counted(sum(len(draw.triangles) for draw in frame.draws), 'triangle')} in tiles of {tile}"
        )
    config = replace(config or CoreConfig(), caches=not ideal_memory)
    made = [*fronts] or [None] * len(frame.draws)
    primsets = [None if front is None else front.primset for front in made]
    if not free_setup:
        made = [
            front or front_of_screen(frame, draw.triangles, tile, config, engine)
            for front, draw in zip(made, frame.draws, strict=True)
        ]
    bins = [None if front is None else front.bins for front in made]
    setting = FrameSetting(tile, config, texture, free_setup=free_setup, engine=engine)
    run = render_on_larrabee(frame, setting, bins=bins, primsets=primsets, progress=progress)
    return side_of(run, parts, core_mhz, made)


def side_of(run: LarrabeeRun, cores: int, core_mhz: float, fronts: Fronts = ()) -> DrawnFrame:
    """Return the account of a run whose work ``cores`` cores share.

    A core is busy while it has a list, a PrimSet or a bin, including its threads' waits for memory and queues. After
    its last one it is lost to imbalance; before that it also waits for the lists, and for the front end, which ends
    before the first bin is taken.
    """
    work = work_of(run, fronts=fronts)
    memory = round(ScheduleConfig().memory_bytes * CORE_MHZ / core_mhz)
    config = ScheduleConfig(cores=cores, memory_bytes=max(memory, 1))
    plan = schedule([work], config)
    several = schedule([replace(work, frame=number) for number in range(_FRAMES)], config)
    instructions = Counter(run.instructions)
    before: Counter[str] = Counter()
    for front in filter(None, fronts):
        instructions.update(front.counts)
        before.update({f"front end: {stage}": int(cost.cycles.sum()) for stage, cost in front.costs.items()})
    stages = {
        **before,
        "triangle set-up": run.setup_cycles,
        "planes": run.plane_cycles,
        "rasterizer's descent": int(run.raster_cycles.sum()),
        **{stage.value: int(cycles.sum()) for stage, cycles in run.back_end.stages.items()},
    }
    traffic = _traffic(run)
    written = sum(count for name, count in traffic.items() if name.endswith(_WRITTEN))
    return DrawnFrame(
        machine="Larrabee",
        parts=cores,
        lanes=cores * LANES,
        clock_mhz=core_mhz,
        cycles=plan.makespan,
        work=int(plan.busy.sum()),
        stages={name: cycles for name, cycles in stages.items() if cycles},
        mix={family.value: count for family, count in instructions.items() if count},
        covered_lanes=run.back_end.utilisation,
        enabled_lanes=None,
        traffic=traffic,
        picture=run.picture,
        whose_stages="of threads alone",
        facts=_facts(run, plan, fronts),
        interval=round(several.makespan / _FRAMES),
        free=left_out(run, cores, fronts, written),
        grounds=grounds_of_cores(run, core_mhz),
        counted=counted_by_cores(run, free_setup=not any(fronts)),
        works=work_of_stages(run.frame),
        part="core",
        timeline=_timeline(plan),
        ended=tuple(plan.done.tolist()),
        own_arithmetic=_FLOATS if run.back_end.accounts.config.planes == "float" else "",
    )


_KINDS = {
    WorkKind.LIST_FRONT: "lists", WorkKind.LIST_BACK: "lists", WorkKind.FRONT: "PrimSets", WorkKind.BACK: "bins",
}  # fmt: skip


def _timeline(plan: Schedule) -> tuple[tuple[str, tuple[TimeSpan, ...]], ...]:
    """Return the timeline of each core, including locks of work lists."""
    lanes: list[list[TimeSpan]] = [[] for _ in range(plan.cores)]
    for core, begin, end, kind in zip(plan.core, plan.begin, plan.end, plan.kind, strict=True):
        lanes[core].append(TimeSpan(_KINDS[WorkKind(kind)], int(begin), int(end)))
    return tuple((f"core {number}", tuple(spans)) for number, spans in enumerate(lanes))


def work_of(run: LarrabeeRun, fronts: Fronts = ()) -> FrameWork:
    """Return a frame's work for the scheduler: front end, set-up and descents by PrimSet, back end by tile."""
    moved = run.back_end.memory_bytes if run.back_end.accounts.config.caches else None
    return measured_work("frame", run.rasters, run.back_end.cycles, fronts, moved)


def _counts(run: LarrabeeRun) -> list[int]:
    """Return the triangles of each draw."""
    return [len(draw.triangles) for draw in run.frame.draws]


def _traffic(run: LarrabeeRun) -> dict[str, int]:
    """Return bytes between the cores and memory; bins hold covered blocks."""
    frame = run.frame
    contents = bin_contents([raster.quads() for raster in run.rasters], _counts(run))
    sizes = TileSizes.of(frame.width, frame.height, run.tile)
    counted = binned_traffic(sizes, contents, default_targets(frame.samples), corners=corners_of(frame))
    found = {f"{name}, read": count for name, count in counted.read.items()}
    found |= {f"{name}{_WRITTEN}": count for name, count in counted.written.items()}
    found["texels, read"] = int(run.back_end.texture.bytes.sum())
    return {name: count for name, count in found.items() if count}


def _facts(run: LarrabeeRun, plan: Schedule, fronts: Fronts) -> tuple[tuple[str, str], ...]:
    size, room = (
        run.back_end.tile_bytes + int(run.back_end.list_bytes.max(initial=0)),
        run.back_end.accounts.config.l2_bytes,
    )
    pairs, quads = sum(raster.pairs for raster in run.rasters), int(run.back_end.quads.sum())
    lists = " and lists" if run.back_end.list_bytes.any() else ""
    set_here = changed(run.back_end.accounts.config)
    rest = (
        "light, texture coordinates and nearness of vertices, triangles off the screen; clearing of lists of tiles"
        if any(fronts)
        else "vertices: camera and light; planes; binning: each tile is given the triangles that cover something of it"
    )
    return (
        *_front_facts([front for front in fronts if front is not None]),
        ("bins", f"{pairs:,} pairs of a triangle and a tile of {run.tile}x{run.tile}, {quads:,} blocks of 4x4 pixels"),
        (
            "L2 cache",
            f"{size:,} bytes of a tile's pixels{lists}, "
            f"{'within' if run.back_end.fits_l2 else 'MORE than'} a core's {room:,}",
        ),
        ("cores", f"{100 * plan.utilisation:.0f} % busy, {counted(plan.locks, 'lock')} of {plan.lock_cycles} cycles"),
        *_turn_facts(run, fronts),
        ("not counted", coded(rest, "PF401")),
        (
            "bytes",
            coded("by formula from what was drawn; sizes of bin entries, masks and vertices are invented", "PF402"),
        ),
        *([("values set", ", ".join(set_here))] if set_here else []),
        ("no source gives", coded(", ".join(invented(run.back_end.accounts.config)), "PF101")),
    )


def _shared_cores(run: LarrabeeRun, fronts: Fronts) -> list[SharedCore]:
    """Return the accounts of cores for each tile, and for vertices, set-up, descents and planes of each PrimSet."""
    return [
        *(core for front in fronts if front is not None for core in front.cores.values()),
        *run.back_end.accounts.shared.values(),
        *(core for raster in run.rasters for core in raster.cores.values()),
    ]


def _turn_facts(run: LarrabeeRun, fronts: Fronts) -> list[tuple[str, str]]:
    """Return facts about cores on which four threads take turns."""
    cores = _shared_cores(run, fronts)
    cycles, issued = sum(core.cycles for core in cores), sum(core.issued for core in cores)
    found = [
        ("threads", f"four take turns on a core: one of them issues in {issued / max(cycles, 1):.0%} of the cycles")
    ]
    if run.back_end.accounts.config.caches:
        near, far = (sum(getattr(core, name) or 0 for core in cores) for name in ("l1_misses", "l2_misses"))
        found.append(("memory", f"{near:,} lines not in the L1 cache, {far:,} of them not in the L2 slice"))
    else:
        found.append(("memory", "ideal: every access hits the L1 cache"))
    return found


def _front_facts(fronts: list[FrontEndResult]) -> list[tuple[str, str]]:
    if not fronts:
        return []
    shaded, distinct = sum(int(front.vertices.sum()) for front in fronts), sum(front.distinct for front in fronts)
    dropped = {reason: sum(front.dropped[reason] for front in fronts) for reason in DropReason}
    primsets = sum(len(front.vertices) for front in fronts)
    found = [
        ("vertices", f"{shaded:,} shaded, PrimSets: {primsets}; {shaded - distinct:,} of them again"),
        ("not in bins", "; ".join(f"{count:,}: {reason.value}" for reason, count in dropped.items() if count)),
        ("cut", counted(sum(front.cut for front in fronts), "triangle")),
    ]
    return [(name, text) for name, text in found if text and text != "0 triangles"]
