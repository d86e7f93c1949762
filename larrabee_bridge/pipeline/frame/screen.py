"""Triangles on the screen through the front end all the same: corners are vertices, the camera moves nothing.

What a front end takes for vertices does not depend on the camera's matrix. So the corners of a draw, each once, go
through its programs with a matrix that takes them to where they are, and the bins are those that the programs filled.
Where corners are almost 16K pixels away floats may move them: the host fills those bins, for the same cycles.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from larrabee_bridge.pipeline.coverage.binning import BinRule, bin_triangles
from larrabee_bridge.pipeline.frame.renderer import PRIMSET
from larrabee_bridge.pipeline.front_end import FrontEndResult, FrontEndSetting, run_front_end
from larrabee_bridge.pipeline.raster.rasterizer import sampled_bins
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.simd.drawing import SUBPIXELS, Frame, ScreenTriangles
from pixelflow.simd.lanes.choice import AUTO

__all__ = ["front_of_screen"]


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
    points, corners = np.unique(given, axis=0, return_inverse=True)
    # All at one depth, which is neither near nor far: nothing here asks for it.
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
        # Corners at the edge of the numbers' reach, 16K pixels away: floats may move them by a step, or have them cut.
        size = frame.width, frame.height, tile
        boxes = bin_triangles(triangles, *size, BinRule.BOX) if frame.samples == 1 else sampled_bins(triangles, *size)
        return replace(front, bins=boxes)
    return replace(front, bins=replace(front.bins, triangles=front.source[front.bins.triangles]))
