"""Fixed functions past the shader: the sampler and the render target, as those who answer messages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.unit import Request
from gen6_bridge.unit.messages import RENDER_CACHE, SAMPLER
from gen6_bridge.unit.shared import looked_at, texels
from pixelflow.simd.drawing import Texture

__all__ = ["PixelFunctions"]

_COMPONENTS = 4
_SAMPLE_BYTES = 16


class PixelFunctions:
    """Sampler and render target of threads that are carried out side by side, of so many channels each.

    What is written is kept as it came; tests and blending, which go by the order of drawing, are done afterwards.
    """

    def __init__(self, threads: int, channels: int, texture: Texture | None) -> None:
        self._channels, self._texture = channels, texture
        self.written = np.zeros((threads, channels, _COMPONENTS), np.float32)
        """Red, green, blue and opacity of each channel, 0 to 1."""
        self.kept = np.zeros((threads, channels), np.bool_)
        """Channels that took part in the write."""
        self.sampled = 0
        """Bytes of texels that were asked for, four a texel and four texels a sample, twice between two mipmaps."""

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Filter the texture at each channel's place, or take what it writes."""
        if request.target == SAMPLER and self._texture is not None:
            self.sampled += _SAMPLE_BYTES * looked_at(self._texture, request)
            return texels(self._texture, request)
        if request.target == RENDER_CACHE:
            self.written[request.thread] = request.payload.view(np.float32).reshape(_COMPONENTS, self._channels).T
            self.kept[request.thread] = request.enabled >> np.arange(self._channels) & 1
        return None

    @property
    def bytes(self) -> NDArray[np.int64]:
        """What was written as the nearest of 256 steps, 0 for no number: int64[thread, channel, component]."""
        with np.errstate(invalid="ignore"):  # where no colours were written, registers hold anything
            within = np.clip(np.nan_to_num(self.written.astype(np.float64)), 0, 1)
        return np.rint(within * 255).astype(np.int64)
