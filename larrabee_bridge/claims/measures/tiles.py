"""Measures for claims about tiles and bins, and arithmetic on frames."""

from __future__ import annotations

import numpy as np

from larrabee_bridge.claims.bench import Printed, SceneBench
from larrabee_bridge.claims.measures.architecture import crossing
from larrabee_bridge.claims.measures.cores import scenes_of
from larrabee_bridge.claims.measures.meshes import even_mesh
from larrabee_bridge.claims.measures.rasterizer import MESHES
from larrabee_bridge.pipeline.coverage.binning import TILES, bin_triangles, in_order, sub_bins
from larrabee_bridge.pipeline.coverage.distinct import distinct
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.evidence import Measured
from pixelflow.simd.drawing import ScreenTriangles, spans_of

_COLOUR_AND_DEPTH = 4 + 4
"""Bytes of a pixel."""
_SCREEN = (1280, 768)
"""Pixels: whole tiles of every size."""
_AREAS = (4.0, 6.0, 10.0, 16.0)
_SPREAD_TILES = (64, 128)
_CORES = (1, 2, 4, 8, 16, 32, 48)
_PRIMSETS = (1, 50, 1000)


def bytes_of_a_tile(bench: SceneBench, printed: Printed) -> Measured:
    """Multiply."""
    largest = max(TILES)
    held, slice_bytes = largest * largest * _COLOUR_AND_DEPTH, CoreConfig().l2_bytes
    share = held / slice_bytes
    text = f"{largest} x {largest} x {_COLOUR_AND_DEPTH} = {held // 1024} KB, {share:.2f} of the slice"
    return Measured(text, {"smallest": min(TILES), "largest": largest, "share_of_slice": share, "bytes": held})


def spread_by_area(bench: SceneBench, printed: Printed) -> Measured:
    """Bin meshes of triangles of growing size; say at which size the spread is what is printed."""
    figures: dict[str, float | None] = {}
    pixels, spreads = [], {tile: [] for tile in _SPREAD_TILES}
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
    """Return by how much tiles of 64x64 multiply the visible triangles of meshes and of composed scenes."""
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
