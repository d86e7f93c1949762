"""Measures for claims about tiles, bins and the rasterizer, on scenes and along a camera path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from larrabee_bridge.claims.bench import LENGTH, PRIMSETS, Printed, SceneBench, SeenFrame, even_mesh
from larrabee_bridge.claims.cores import crossing, scenes_of
from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.back_end_programs import Attributes
from larrabee_bridge.pipeline.bins import Quads, bin_triangles, distinct, in_order, quads_of, sub_bins
from larrabee_bridge.pipeline.frame import FrameSetting, render_on_larrabee
from larrabee_bridge.pipeline.picture import front_of_screen
from larrabee_bridge.pipeline.rasterizer import Ablation, ablation, rasterize
from larrabee_bridge.pipeline.work import primset_numbers
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.evidence import Measured, Value
from pixelflow.simd.drawing import Blend, Draw, Frame, ScreenTriangles, State, draw_frame, snap, spans_of

# Measures for claims about the rasterizer's programs.


MESHES = ("bunny", "airplane", "ant", "nut")
"""Meshes that are rasterized, each alone on the screen, by the name of the scene."""
COMPARED = ("airplane", "nut")
"""Those whose masks are compared."""
_TILES = (32, 64, 128)


def _ablations(bench: SceneBench) -> dict[str, Ablation]:
    def compute() -> dict[str, Ablation]:
        found = {}
        for name in MESHES:
            frame = bench.frame(name)
            found[name] = ablation(frame.draws[0].triangles, frame.width, frame.height)
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
            differing += len(_placed(found, frame.width) ^ _placed(exact, frame.width))
            quads += len(exact)
            pixels += int(np.bitwise_count(exact.masks).sum())
    text = f"{quads:,} blocks of 4x4 with {pixels:,} pixels, {len(COMPARED)} meshes,"
    text += f" tiles of {', '.join(map(str, _TILES))}: {differing} differ"
    return Measured(text, {"quads": quads, "pixels": pixels, "differing": differing})


def _placed(quads: Quads, width: int) -> set[tuple[int, int, int]]:
    place = quads.y * width + quads.x
    return set(zip(quads.triangle.tolist(), place.tolist(), quads.masks[:, 0].tolist(), strict=True))


def rasterizer_mix(bench: SceneBench, printed: Printed) -> Measured:
    """Count the vector unit's share in the instructions of set-up and descent."""
    found = {name: round(each.instruction.vector_share or 0, 4) for name, each in _ablations(bench).items()}
    text = "share of the vector unit: " + ", ".join(f"{name} {share:.2f}" for name, share in found.items())
    return Measured(text, {f"share_{name}": share for name, share in found.items()}, {"share": found})


def rasterizer_ablation(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the cycles of the descent with its bit scan and without."""
    found = {name: round(each.extra, 4) for name, each in _ablations(bench).items()}
    text = "cycles of the descent that a loop adds: " + ", ".join(f"{name} {more:.1%}" for name, more in found.items())
    return Measured(text, {f"more_{name}": more for name, more in found.items()}, {"more": found})


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
    for name in (*MESHES, *scenes_of(bench)):
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


CAMERAS = 25
"""Positions along the camera path, the number of frames in figures 13 and 14."""
PLAIN, SHADOWED = "walk", "walk with shadow volumes"
"""The same frames without and with volumes."""
_TILE = 64


@dataclass(frozen=True, slots=True)
class StageShares:
    """Cycles of a frame by stage, on cores on which four threads take turns."""

    vertices: int
    """Vertices, assembly, cutting, boxes and bins."""
    raster: int
    """Set-up of triangles and descents."""
    planes: int
    pixels: int
    """Back end of all tiles, under the lengthened shader."""
    same: bool
    """True if the picture is the one of 64-bit integers."""

    @property
    def cycles(self) -> int:
        """All cycles."""
        return self.vertices + self.raster + self.planes + self.pixels

    @property
    def parts(self) -> Mapping[str, float]:
        """Shares in all cycles, by stage."""
        each = {"vertices": self.vertices, "raster": self.raster, "planes": self.planes, "pixels": self.pixels}
        return {name: cycles / self.cycles for name, cycles in each.items()}


def stages_of(seen: SeenFrame) -> StageShares:
    """Execute a whole frame with caches from its vertices; generated draws start from triangles on the screen."""
    config, frame = CoreConfig(caches=True), seen.frame
    fronts = [
        front or front_of_screen(frame, draw.triangles, _TILE, config)
        for front, draw in zip(seen.fronts, frame.draws, strict=True)
    ]
    rasters = {
        planes: [
            rasterize(
                *(draw.triangles, frame.width, frame.height),
                tile=_TILE,
                samples=frame.samples,
                bins=None if front is None else front.bins,
                config=config,
                primset=primset_numbers(len(draw.triangles), PRIMSETS[0]) if made is None else made.primset,
                attributes=Attributes.of(draw) if planes else None,
            )
            for draw, front, made in zip(frame.draws, fronts, seen.fronts, strict=True)
        ]
        for planes in (False, True)
    }
    raster, whole = (
        sum(core.cycles for each in rasters[planes] for core in each.cores.values()) for planes in (False, True)
    )
    quads = [each.quads() for each in rasters[True]]
    back_end = render_back_end(frame, quads, _TILE, config, length=LENGTH)
    vertices = sum(int(front.cycles.sum()) for front in fronts if front is not None)
    same = back_end.picture.equals(draw_frame(frame))
    return StageShares(vertices, raster, whole - raster, int(back_end.cycles.sum()), same)


def stages_of_the_way(bench: SceneBench, printed: Printed) -> Measured:
    """Return the rasterizer's share over all frames of the path, without and with volumes."""
    plain, shadowed = (_way(bench, name) for name in (PLAIN, SHADOWED))
    found = {name: _together(frames) for name, frames in ((PLAIN, plain), (SHADOWED, shadowed))}
    text = "; ".join(f"{name}: {_shown(shares)}" for name, shares in found.items())
    text += f"; {_drawn(plain + shadowed)}"
    figures: dict[str, Value] = {
        f"{stage}_{which}": round(share, 4)
        for which, shares in (("plain", found[PLAIN]), ("shadowed", found[SHADOWED]))
        for stage, share in shares.items()
    }
    means = {name: {"mean of 25": round(shares["raster"], 4)} for name, shares in found.items()}
    return Measured(text, figures, {"games": means[PLAIN], "volumes": means[SHADOWED]})


def frames_of_the_way(bench: SceneBench, printed: Printed) -> Measured:
    """Return the range of the rasterizer's share, and of the cycles, over the frames."""
    parts, figures = [], dict[str, Value]()
    for name, key in ((PLAIN, "plain"), (SHADOWED, "shadowed")):
        frames = _way(bench, name)
        shares, cycles = [each.parts["raster"] for each in frames], [each.cycles for each in frames]
        parts.append(
            f"{name}: rasterizer {min(shares):.1%} to {max(shares):.1%}, "
            f"{min(cycles) / 1e6:.1f} to {max(cycles) / 1e6:.1f} million cycles"
        )
        figures |= {f"least_{key}": round(min(shares), 4), f"most_{key}": round(max(shares), 4)}
        figures |= {f"least_cycles_{key}": min(cycles), f"most_cycles_{key}": max(cycles)}
    return Measured("; ".join(parts), figures)


def _together(frames: Sequence[StageShares]) -> dict[str, float]:
    """Return the shares of stages in the cycles of all frames."""
    stages = ("vertices", "raster", "planes", "pixels")
    whole = sum(each.cycles for each in frames)
    return {stage: sum(getattr(each, stage) for each in frames) / whole for stage in stages}


def _shown(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{stage} {share:.1%}" for stage, share in shares.items())


def _drawn(frames: Sequence[StageShares]) -> str:
    same = sum(each.same for each in frames)
    return f"{same} of {len(frames)} pictures those of 64-bit integers"


def _way(bench: SceneBench, name: str) -> list[StageShares]:
    """Return the stages of all frames of a camera path, computed once on a bench."""
    return bench.once(f"stages of {name}", lambda: [stages_of(bench.seen(name, at)) for at in range(CAMERAS)])
