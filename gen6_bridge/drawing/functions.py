"""Fixed functions past the shader: the sampler and the render target, as those who answer messages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.drawing.rasterizer import PixelThreads
from gen6_bridge.unit import Request
from gen6_bridge.unit.messages import RENDER_CACHE, SAMPLER
from pixelflow.simd.drawing import Texture
from pixelflow.simd.drawing.frame_reference import filtered

__all__ = ["PixelFunctions"]

_CHANNELS = 16


class PixelFunctions:
    """Sampler and render target of one draw; colours are uint8[row, column, rgb], which visible pixels change."""

    def __init__(self, threads: PixelThreads, texture: Texture | None, colours: NDArray[np.uint8]) -> None:
        self._threads, self._texture, self._colours = threads, texture, colours
        self.sampled = self.written = 0
        """Bytes of texels that were asked for, four a texel and four texels a sample, and of pixels."""

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Filter the texture at sixteen places, or write sixteen pixels."""
        if request.target == SAMPLER and self._texture is not None:
            u, v = request.payload[32:].view(np.uint32).reshape(2, _CHANNELS).astype(np.int64)
            texels = filtered(self._texture, u, v)
            self.sampled += 16 * request.enabled.bit_count()
            return np.ascontiguousarray(texels.T.astype(np.uint32)).view(np.uint8).reshape(-1)
        if request.target == RENDER_CACHE:
            values = request.payload.view(np.float32).reshape(4, _CHANNELS)[:3]
            seen = self._threads.visible[request.thread]
            rows, columns = self._threads.rows[request.thread][seen], self._threads.columns[request.thread][seen]
            # A float from 0 to 1 becomes the nearest of 256 steps.
            self._colours[rows, columns] = np.rint(values.T[seen].astype(np.float64) * 255).astype(np.uint8)
            self.written += 4 * len(rows)
        return None
