"""A map of the array in the terminal: one byte or one flag of every PE at its x, y place.

Characters are about twice as high as wide, so one character stands for s x 2s PEs. A flag is drawn in Braille dots,
one dot a PE (2 x 4 in a character); a byte as the mean over a character's PEs, in ten shades from the least value
of the array to the greatest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SHADES", "flag_map", "grid", "pes_of_character", "value_map"]

SHADES = " .:-=+*#%@"
"""From the least value of a byte's map to its greatest."""

_EMPTY_BRAILLE = 0x2800
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def grid(values: NDArray, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray | None:
    """Return values[y, x] with y growing downwards, or None where two PEs share a place or the plane is too wide."""
    width, height = int(x.max()) + 1, int(y.max()) + 1
    if width * height > 4 * len(values) or len(np.unique(y * width + x)) < len(values):
        return None
    plane = np.zeros((height, width), values.dtype)
    plane[y, x] = values
    return plane


def flag_map(plane: NDArray[np.bool_]) -> list[str]:
    """Return the lines of a flag's map: one Braille dot per PE."""
    padded = _padded(plane, 4, 2)
    height, width = padded.shape
    cells = padded.reshape(height // 4, 4, width // 2, 2)
    codes = np.einsum("abcd,bd->ac", cells.astype(np.int64), _DOTS)
    return ["".join(chr(_EMPTY_BRAILLE + code) for code in row) for row in codes]


def pes_of_character(plane: NDArray, columns: int) -> tuple[int, int]:
    """Return how many PEs along x and along y one character of a map stands for."""
    if plane.dtype == np.bool_:
        return 2, 4
    step = max(1, -(-plane.shape[1] // columns))
    return step, 2 * step


def value_map(plane: NDArray[np.uint8], columns: int) -> list[str]:
    """Return the lines of a byte's map, at most ``columns`` wide."""
    step, _ = pes_of_character(plane, columns)
    padded = _padded(plane, 2 * step, step)
    height, width = padded.shape
    cells = padded.reshape(height // (2 * step), 2 * step, width // step, step).mean(axis=(1, 3))
    least, span = int(plane.min()), max(1, int(plane.max()) - int(plane.min()))
    shades = np.rint((cells - least) / span * (len(SHADES) - 1)).clip(0, len(SHADES) - 1).astype(np.int64)
    return ["".join(SHADES[shade] for shade in row) for row in shades]


def _padded(plane: NDArray, rows: int, columns: int) -> NDArray:
    height, width = plane.shape
    return np.pad(
        plane, ((0, -height % rows), (0, -width % columns)), mode="minimum" if plane.dtype != bool else "constant"
    )
