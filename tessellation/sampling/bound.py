"""A bound on how far a patch's triangles lie from it on the screen, by second differences of its control points.

Filip, Magedson and Markot (Surface algorithms using bounds on derivatives, CAGD 3, 1986): where a triangle's corners
lie on a surface S inside a cell of h_u x h_v of its parameters, linear interpolation L is off by at most

    |S - L| <= (h_u^2 M_uu + 2 h_u h_v M_uv + h_v^2 M_vv) / 8,

M the largest size of a second derivative. It holds for any triangle in the cell, not only for halves of it: with
weights w_i of the corners, the error is half the sum of w_i times the second derivative along the way to corner i,
and the variance of the corners' u is at most h_u^2 / 4. A second derivative of a Bezier patch is a patch whose
control points are second differences times m (m - 1), m n and n (n - 1) (Farin), so that their largest size is a
bound.

On the screen, with w the distance along the view, f pixels at distance 1 and s the place of S from the middle,

    screen(S) - screen(L) = (f (S - L)_xy - s (S - L)_w) / w_L,

which is linear in S - L for a given s, convex in s, and s lies in the hull of the control points on the screen. So
the largest value over all control points is a bound for all s, and the nearest control point one for w_L.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tessellation.picture import Standpoint
from tessellation.surface.patch import Patch

__all__ = ["SecondDifferences", "by_counts", "seen_nets"]

_CELL = 8.0
"""The divisor of the theorem."""


def by_counts(patches: Sequence[Patch]) -> dict[tuple[int, int], NDArray[np.int64]]:
    """Return the numbers of the patches of each net size."""
    found: dict[tuple[int, int], list[int]] = {}
    for number, patch in enumerate(patches):
        found.setdefault(patch.counts, []).append(number)
    return {counts: np.array(numbers) for counts, numbers in found.items()}


def seen_nets(patches: Sequence[Patch], standpoint: Standpoint) -> NDArray[np.float64]:
    """Return control points of patches of one net size as the camera sees them: right, up, distance along the view.

    The shape is (patches, m + 1, n + 1, 3); they start from the binary32 numbers that the machine gets.
    """
    nets = np.stack([patch.points32 for patch in patches]).astype(np.float64)
    local = (standpoint.placed(nets) - standpoint.camera.eye) @ standpoint.camera.axes.T
    return local * (1.0, 1.0, -1.0)


class SecondDifferences:
    """What the bound needs of patches of one net size, seen by a camera."""

    def __init__(self, nets: NDArray[np.float64], focal: float) -> None:
        """``nets`` are those of `seen_nets`; patches with a control point at the eye's plane or past it have none."""
        m, n = nets.shape[1] - 1, nets.shape[2] - 1
        count = len(nets)
        along_u, along_v = np.diff(nets, axis=1), np.diff(nets, axis=2)
        distance = nets[..., 2].reshape(count, -1)
        nearest = distance.min(axis=1)
        self._bounded = nearest > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            places = focal * nets[..., :2].reshape(count, -1, 2) / distance[..., None]
            sizes = []
            for factor, differences in (
                (m * (m - 1), np.diff(along_u, axis=1)),
                (m * n, np.diff(along_u, axis=2)),
                (n * (n - 1), np.diff(along_v, axis=2)),
            ):
                each = factor * differences.reshape(count, 1, -1, 3)
                moved = focal * each[..., :2] - places[:, :, None] * each[..., 2:]
                sizes.append(np.linalg.norm(moved, axis=-1).max(axis=2))
            self._uu, self._uv, self._vv = (size / nearest[:, None] for size in sizes)

    def bounds(self, steps_u: int, steps_v: int) -> NDArray[np.float64]:
        """Return the bound in pixels of each patch whose sides are cut into so many steps; infinite without one."""
        u, v = 1 / steps_u, 1 / steps_v
        found = (u * u * self._uu + 2 * u * v * self._uv + v * v * self._vv).max(axis=1) / _CELL
        return np.where(self._bounded, found, np.inf)
