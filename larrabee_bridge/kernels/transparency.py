"""Transparency without an order (6.2, figure 15): layers collected in lists of each pixel, then sorted and blended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.study import CoresRun, KernelResult
from larrabee_bridge.pipeline.back_end import BackEnd
from larrabee_bridge.pipeline.back_end_programs import TileStage
from larrabee_bridge.pipeline.frame import LarrabeeRun, render_on_larrabee
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily
from pixelflow.simd.drawing import Blend, Draw, Frame, Picture, State, draw_frame, snap
from pixelflow.simd.report import number

_SIZE = 384, 256
_CELL = 32
"""Pixels of the side of a cell, in which layers have an order of their own."""
_TILE = 32
_DEPTHS = (8, 17, 24, 40)
"""Numbers of layers; the third is what is scheduled."""
_STUDIED = 2
_GLASS = State(blend=Blend.SORTED, alpha=90, depth_write=False)


def layered(depth: int, width: int = _SIZE[0], height: int = _SIZE[1]) -> Frame:
    """Return a screen that ``depth`` layers of glass cover, in each of its cells in another order of depth."""
    rng = np.random.default_rng(depth)
    x, y = (each.reshape(-1) for each in np.meshgrid(np.arange(0, width, _CELL), np.arange(0, height, _CELL)))
    corners = np.array([[(0, 0), (1, 0), (1, 1)], [(0, 0), (1, 1), (0, 1)]]) * _CELL
    points = np.stack([x, y], axis=-1)[:, None, None] + corners
    order = rng.permuted(np.tile(np.arange(depth), (len(x), 1)), axis=1).T
    depths = np.broadcast_to(((order + 0.5) / depth)[..., None, None], (depth, len(x), 2, 3))
    colours = np.broadcast_to(rng.integers(0, 256, (depth, len(x), 1, 1, 3)), (depth, len(x), 2, 3, 3))
    every = np.broadcast_to(points, (depth, *points.shape)).reshape(-1, 3, 2)
    triangles = snap(every.astype(float), depths.reshape(-1, 3), colours.reshape(-1, 3, 3).astype(np.uint8))
    return Frame(width, height, (40, 60, 90), (Draw("glass", triangles, _GLASS),))


def back_end_run(found: BackEnd) -> CoresRun:
    """Return what the tiles of a back end took, each a piece of work."""
    cycles = found.cycles
    missing = sum(core.l2_misses or 0 for core in found.accounts.shared.values())
    return CoresRun(
        cycles[cycles > 0], int(found.threads.sum()), dict(found.instructions), found.accounts.lines, missing
    )


def front_end_run(run: LarrabeeRun) -> CoresRun:
    """Return what set-up, planes and descents took, each PrimSet a piece of work."""
    counts = Counter(dict.fromkeys(VectorFamily, 0))
    pieces, alone, lines = list[int](), 0, 0
    for raster in run.rasters:
        pieces += [core.cycles for core in raster.cores.values()]
        for counted in (raster.set_up, raster.planes, raster.descent):
            counts.update(counted.instructions)
            alone += int(counted.cycles.sum())
    return CoresRun(np.array(pieces, np.int64), alone, dict(counts), lines)


def _differing(one: Picture, other: Picture) -> int:
    return int((one.colours != other.colours).any(axis=-1).sum())


def transparency_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Draw 8, 17, 24 and 40 layers of glass over each other."""
    runs, differing, costs = [], 0, []
    for depth in _DEPTHS:
        if progress is not None:
            progress(f"transparency: {depth} layers")
        frame = layered(depth)
        run = render_on_larrabee(frame, tile=_TILE, config=config)
        differing = max(differing, _differing(run.picture, draw_frame(frame)))
        runs.append(run)
        costs.append(_costs(run))
    run = runs[_STUDIED]
    quads, lists = int(run.back_end.quads.sum()), run.back_end.list_bytes
    picture: NDArray[np.uint8] = run.picture.colours.astype(np.uint8)
    return KernelResult(
        work=f"{_DEPTHS[_STUDIED]} layers over {_SIZE[0]}x{_SIZE[1]} pixels, none of them hidden, in a random order "
        f"in each of {_SIZE[0] // _CELL * _SIZE[1] // _CELL} cells; tiles of {_TILE}x{_TILE}, with lists of "
        f"{number(int(lists.mean()))} bytes; corners come on the screen, and bins are the host's",
        reference=f"64-bit integers, sorted by numpy, at {', '.join(map(str, _DEPTHS))} layers",
        error=float(differing),
        error_of="pixels differing",
        unit="layer of 4x4",
        units=quads,
        phases=(front_end_run(run), back_end_run(run.back_end)),
        limit="each fragment is put among those before it, farthest first, so that a layer of 4x4 costs "
        + ", ".join(f"{whole:.0f} cycles at {depth}" for depth, (whole, _) in zip(_DEPTHS, costs, strict=True))
        + "; of a thread's cycles sorting and blending lists are "
        + ", ".join(f"{share:.0%}" for _, share in costs)
        + "; integers and compares are no flops",
        picture=picture,
    )


def _costs(run: LarrabeeRun) -> tuple[float, float]:
    """Return cycles of a core for each layer of 4x4 pixels, and the share of sorting in those of threads alone."""
    back = run.back_end
    whole = int(back.cycles.sum()) + int(front_end_run(run).pieces.sum())
    spent = {stage: int(cycles.sum()) for stage, cycles in back.stages.items()}
    return whole / int(back.quads.sum()), spent[TileStage.SORT] / sum(spent.values())
