"""Measures for claims about the rasterizer's programs."""

from __future__ import annotations

import numpy as np

from larrabee_bridge.claims.bench import Printed, SceneBench
from larrabee_bridge.pipeline.coverage.quads import quads_of
from larrabee_bridge.pipeline.raster.rasterizer import rasterize
from larrabee_bridge.pipeline.raster.timing import Ablation, ablation
from pixelflow.evidence import Measured

__all__ = ["COMPARED", "MESHES"]

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


def _placed(quads, width: int) -> set[tuple[int, int, int]]:
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
