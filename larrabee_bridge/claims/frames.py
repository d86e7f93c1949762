"""Measures for claims about tiles, bins and the rasterizer, on scenes and along a camera path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from larrabee_bridge.claims.bench import (
    CAMERAS,
    LARGE,
    LARGE_SHADOWED,
    STAGES,
    FrameCosts,
    Printed,
    SceneBench,
    even_mesh,
    walk,
)
from larrabee_bridge.claims.cores import crossing
from larrabee_bridge.pipeline.bins import Quads, bin_triangles, distinct, in_order, quads_of, sub_bins
from larrabee_bridge.pipeline.frame import FrameSetting, render_on_larrabee
from larrabee_bridge.pipeline.rasterizer import Ablation, ablation, rasterize
from pixelflow.evidence import Measured, Value
from pixelflow.simd.drawing import Blend, Draw, Frame, ScreenTriangles, State, draw_frame, snap, spans_of

# Measures for claims about the rasterizer's programs.


MESHES = ("bunny", "airplane", "ant", "nut")
"""Meshes that are rasterized, each alone on the screen, by the name of the scene."""
SCENES = ("herd", "fleet", "works", "anthill", "meadow", "swarm", "tray")
"""Composed scenes of many triangles, by name."""
COMPARED = ("airplane", "nut")
"""Those whose masks are compared."""
_TILES = (32, 64, 128)
_SAMPLES = 4
"""Of a pixel, in two of the three games of the paper (table 2)."""


def _ablations(bench: SceneBench) -> dict[str, Ablation]:
    def compute() -> dict[str, Ablation]:
        found = {}
        for name in MESHES:
            frame = bench.frame(name)
            both = ablation(frame.draws[0].triangles, frame.width, frame.height)
            found[name] = Ablation(both.instruction.account, both.loop.account)
        return found

    return bench.once("ablations", compute)


def rasterizer_masks(bench: SceneBench, printed: Printed) -> Measured:
    """Compare every mask of meshes with integers in 64 bits, at each size of tile."""
    quads = pixels = differing = 0
    for name in COMPARED:
        frame = bench.frame(name)
        triangles = frame.draws[0].triangles
        exact = quads_of(triangles, frame.width, frame.height, _TILES[0])
        for tile in _TILES:
            found = rasterize(triangles, frame.width, frame.height, tile=tile).quads()
            # By triangle and place, since tiles number the same blocks otherwise.
            differing += len(_placed(found) ^ _placed(exact))
            quads += len(exact)
            pixels += int(np.bitwise_count(exact.masks).sum())
    text = f"{quads:,} blocks of 4x4 with {pixels:,} pixels, {len(COMPARED)} meshes,"
    text += f" tiles of {', '.join(map(str, _TILES))}: {differing} differ"
    return Measured(text, {"quads": quads, "pixels": pixels, "differing": differing})


def _placed(quads: Quads) -> set[tuple[int, ...]]:
    columns = quads.triangle, quads.x, quads.y, quads.masks[:, 0]
    return set(zip(*(each.tolist() for each in columns), strict=True))


def rasterizer_mix(bench: SceneBench, printed: Printed) -> Measured:
    """Count the vector unit's share in the instructions of set-up and descent, with the games' samples."""
    one = {name: round(each.instruction.vector_share or 0, 4) for name, each in _ablations(bench).items()}
    found = {}
    for name in MESHES:
        frame = bench.frame(name)
        drawn = rasterize(frame.draws[0].triangles, frame.width, frame.height, samples=_SAMPLES)
        found[name] = round(drawn.vector_share or 0, 4)
    text = f"share of the vector unit, {_SAMPLES} samples: "
    text += ", ".join(f"{name} {share:.2f}" for name, share in found.items())
    text += f"; with one {min(one.values()):.2f} to {max(one.values()):.2f}"
    figures = {f"share_{name}": share for name, share in found.items()}
    return Measured(text, figures | {f"one_sample_{name}": share for name, share in one.items()}, {"share": found})


def rasterizer_ablation(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the cycles of the descent with its bit scan and without."""
    found = {name: round(each.extra, 4) for name, each in _ablations(bench).items()}
    with_scan, without = (
        sum(int(getattr(each, how).descent.cycles.sum()) for each in _ablations(bench).values())
        for how in ("instruction", "loop")
    )
    together = round(without / with_scan - 1, 4)
    text = "cycles of the descent that a loop adds: " + ", ".join(f"{name} {more:.1%}" for name, more in found.items())
    text += f"; {together:.1%} of all"
    figures = {f"more_{name}": more for name, more in found.items()}
    return Measured(text, figures, {"more": {"all meshes": together}})


# Measures for claims about tiles and bins, and arithmetic on frames.


_SCREEN = (1280, 768)
"""Pixels: whole tiles of every size."""
_AREAS = (4.0, 6.0, 10.0, 16.0)
_SPREAD_TILES = (64, 128)
_CORES = (1, 2, 4, 8, 16, 32, 48)
_PRIMSETS = (1, 50, 1000)


def spread_by_area(bench: SceneBench, printed: Printed) -> Measured:
    """Bin meshes of triangles of growing size; say at which size the spread is what is printed."""
    figures: dict[str, float | None] = {}
    pixels: list[float] = []
    spreads: dict[int, list[float]] = {tile: [] for tile in _SPREAD_TILES}
    for area in _AREAS:
        triangles = even_mesh(*_SCREEN, area)
        spans = spans_of(triangles, *_SCREEN)
        pixels.append(float(spans.pixels.sum() / len(distinct(spans.triangle))))
        for tile in _SPREAD_TILES:
            spreads[tile].append(bin_triangles(triangles, *_SCREEN, tile).spread)
            figures[f"spread_{tile}_{area:g}"] = round(spreads[tile][-1], 4)
    level = printed["spread"]
    found = {tile: crossing(tuple(pixels), spreads[tile], level) for tile in _SPREAD_TILES}
    parts = [
        f"{tile}x{tile} tiles: {_size(found[tile], pixels[0])} pixels a visible triangle" for tile in _SPREAD_TILES
    ]
    meshes = _spread_of_meshes(bench)
    text = f"below {level:.0%} up to: " + "; ".join(parts) + "; more triangles in bins of 64x64: "
    text += ", ".join(f"{name} {share:.1%}" for name, share in meshes.items())
    figures |= {f"mesh_{name}": share for name, share in meshes.items()}
    return Measured(text, figures | {f"area_{tile}": found[tile] for tile in _SPREAD_TILES}, {"spread": meshes})


def _spread_of_meshes(bench: SceneBench) -> dict[str, float]:
    """Return the bin spread of meshes and of composed scenes in tiles of 64x64."""
    found = {}
    for name in (*MESHES, *SCENES):
        frame = bench.frame(name)
        triangles = ScreenTriangles.joined([draw.triangles for draw in frame.draws])
        found[name] = round(bin_triangles(triangles, frame.width, frame.height, _SPREAD_TILES[0]).spread, 4)
    return found


def _size(value: float | None, least: float) -> str:
    return f"less than {least:.2g}" if value is None else f"{value:.2g}"


def order_of_sub_bins(bench: SceneBench, printed: Printed) -> Measured:
    """Give each PrimSet to a core at random, and read every tile back by sequence ids."""
    size = 256
    triangles = even_mesh(size, size, 200, layers=3)
    bins = bin_triangles(triangles, size, size)
    rng = np.random.default_rng(4)
    tiles = same = 0
    for cores in _CORES:
        for primset in _PRIMSETS:
            took = rng.integers(0, cores, -(-len(triangles) // primset)).tolist()
            for tile in range(bins.columns * bins.rows):
                parts = sub_bins(bins, tile, len(triangles), primset, took)
                tiles += 1
                same += list(in_order(parts)) == bins.of(tile).tolist()
    text = f"{same:,} of {tiles:,} tiles in the order of drawing: {len(_CORES)} numbers of cores, 1 to {max(_CORES)},"
    text += f" PrimSets of {', '.join(f'{each:,}' for each in _PRIMSETS)}"
    return Measured(text, {"tiles": tiles, "out_of_order": tiles - same})


# Layers of glass without an order (6.2, figure 15), which the renderer collects in lists and sorts.


_DEPTHS = (8, 17, 24, 40)
"""Numbers of layers."""
_GLASS_SIZE = 384, 256
_CELL = 32
"""Pixels of the side of a cell, in which layers have a separate order, and of a tile."""


def layered(depth: int, width: int = _GLASS_SIZE[0], height: int = _GLASS_SIZE[1]) -> Frame:
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
    glass = State(blend=Blend.SORTED, alpha=90, depth_write=False)
    return Frame(width, height, (40, 60, 90), (Draw("glass", triangles, glass),))


def layers_in_lists(bench: SceneBench, printed: Printed) -> Measured:
    """Draw layers of glass, and compare pixels with integers that numpy sorts."""
    differing = quads = 0
    for depth in _DEPTHS:
        frame = layered(depth)
        found = render_on_larrabee(frame, FrameSetting(tile=_CELL))
        quads += int(found.back_end.quads.sum())
        differing += int((found.picture.colours != draw_frame(frame).colours).any(axis=-1).sum())
    text = f"{differing} pixels differing, {quads:,} layers of 4x4 pixels"
    return Measured(text, {"differing": differing, "quads": quads})


# Measures along a camera path: the stages of whole frames from their vertices, with and without shadow volumes.


def stages_of_the_way(bench: SceneBench, printed: Printed) -> Measured:
    """Return the rasterizer's share over some frames of the path, without and with volumes."""
    figures: dict[str, Value] = {}
    parts, means, same = [], {}, 0
    for name, key in ((LARGE, "plain"), (LARGE_SHADOWED, "shadowed")):
        frames = walk(bench, name)
        shares, same = together(frames), same + sum(each.same for each in frames)
        parts.append(f"{name}: {', '.join(f'{stage} {share:.1%}' for stage, share in shares.items())}")
        figures |= {f"{stage}_{key}": round(share, 4) for stage, share in shares.items()}
        means[key] = {f"mean of {len(frames)} cameras": round(shares["raster"], 4)}
    text = f"{'; '.join(parts)}; {same} of {2 * len(CAMERAS)} pictures those of 64-bit integers"
    return Measured(text, figures, {"games": means["plain"], "volumes": means["shadowed"]})


def volumes_raise_the_share(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the rasterizer's share with volumes and without, camera by camera."""
    pairs = zip(CAMERAS, walk(bench, LARGE), walk(bench, LARGE_SHADOWED), strict=True)
    found = {f"camera {at}": round(after.parts["raster"] / before.parts["raster"], 2) for at, before, after in pairs}
    return Measured(
        ", ".join(f"{name} {times}x" for name, times in found.items()), {"least": min(found.values())}, {"times": found}
    )


def together(frames: Sequence[FrameCosts]) -> dict[str, float]:
    """Return the shares of stages in the cycles of all frames."""
    whole = sum(each.cycles for each in frames)
    return {stage: sum(getattr(each, stage) for each in frames) / whole for stage in STAGES}


def raster_cycles_of_the_way(bench: SceneBench, printed: Printed) -> Measured:
    """Return the rasterizer's cycles in the same frames."""
    means, parts = {}, []
    for name in (LARGE, LARGE_SHADOWED):
        cycles = [each.raster for each in walk(bench, name)]
        means[name] = round(sum(cycles) / len(cycles))
        parts.append(f"{name}: {means[name] / 1e6:.2f} million cycles in the mean of {len(cycles)} of 25 cameras")
        parts[-1] += f" ({min(cycles) / 1e6:.2f} to {max(cycles) / 1e6:.2f})"
    figures: dict[str, Value] = {"plain": means[LARGE], "shadowed": means[LARGE_SHADOWED]}
    spread = {"games": {LARGE: means[LARGE]}, "volumes": {LARGE_SHADOWED: means[LARGE_SHADOWED]}}
    return Measured("; ".join(parts), figures, spread)
