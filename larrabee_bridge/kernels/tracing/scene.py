"""Views of a mesh: eye, light, and the words of the scene block that `trace.mc` reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["TracedView"]

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class TracedView:
    """An eye that looks at a point, a light at a point, a sky, and how bright everything is."""

    eye: Point = (4.6, 3.6, 5.6)
    at: Point = (0.0, -0.55, 0.0)
    light: Point = (5.0, 8.0, -1.5)
    sky: Point = (0.55, 0.7, 0.9)
    ambient: float = 0.22
    diffuse: float = 0.85
    height: float = 0.85
    """Of the picture, at distance 1 from the eye."""

    def rays(self, size: int) -> NDArray[np.float32]:
        """Return the direction of pixel (0, 0), and what a pixel to the right and one down add: float32[3, xyz]."""
        eye = np.array(self.eye)
        forward = np.array(self.at) - eye
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, (0.0, 1.0, 0.0))
        right /= np.linalg.norm(right)
        down = np.cross(forward, right)
        step = self.height / size
        corner = forward - (size - 1) / 2 * step * (right + down)
        return np.stack([corner, step * right, step * down]).astype(np.float32)

    def words(self, size: int, root: int, shading: int) -> NDArray[np.uint32]:
        """Return the scene block for a picture of ``size`` x ``size`` pixels: uint32[32]."""
        floats = np.concatenate(
            [np.array(self.eye), self.rays(size).reshape(-1), self.light, self.sky, (self.ambient, self.diffuse)]
        ).astype(np.float32)
        words = np.zeros(32, np.uint32)
        words[: len(floats)] = floats.view(np.uint32)
        words[len(floats) : len(floats) + 2] = root, shading
        return words
