"""Parallel views of a mesh: an eye's and a light's, as matrices; what the eye sees, as points of the light."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.tracing import TracedMesh
from pixelflow.simd.drawing import DEPTH_GUARD, FAR, Draw, Frame, snap

Floats = NDArray[np.float64]

BIAS = 0.004
"""How far past a triangle, along the light, a sample is hidden; the mesh is about 18 wide."""
_EYE, _AT, _LIGHT = (4.6, 3.6, 5.6), (0.0, -0.55, 0.0), (5.0, 8.0, -1.5)
_HALF = 3.4
"""What the eye sees to either side of the middle."""
_AMBIENT, _DIFFUSE = 0.3, 0.7


def _axes(forward: Floats) -> Floats:
    """Return right, down and forward of a view: float64[3, xyz]."""
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(forward, right), forward])


def _spread(mesh: TracedMesh, axis: Floats) -> tuple[float, float]:
    """Return the least and the most of all corners along an axis, a little wider."""
    along = mesh.corners.reshape(-1, 3).astype(float) @ axis
    low, high = float(along.min()), float(along.max())
    room = 0.01 * (high - low)
    return low - room, high + room


@dataclass(frozen=True, slots=True, eq=False)
class ShadowViews:
    """An eye and a light that look at a mesh, both in parallel; matrices are float64[3, 4]."""

    mesh: TracedMesh
    size: int
    eye: Floats
    """From a point and 1 to x, y in pixels and the depth from 0 to 1."""
    light: Floats
    """To u, v from 0 to 1, and z, along the light."""
    reach: float
    """The largest z less the smallest; the smallest is 0."""

    @classmethod
    def of(cls, mesh: TracedMesh, size: int) -> ShadowViews:
        """Return the views of the study for a picture of ``size`` x ``size`` pixels."""
        axes = _axes(np.array(_AT) - np.array(_EYE))
        low, high = _spread(mesh, axes[2])
        scale = size / (2 * _HALF)
        eye = np.zeros((3, 4))
        eye[:2, :3] = scale * axes[:2]
        eye[:2, 3] = size / 2 - eye[:2, :3] @ np.array(_AT)
        eye[2, :3], eye[2, 3] = axes[2] / (high - low), -low / (high - low)
        shown = _axes(-np.array(_LIGHT))
        light = np.zeros((3, 4))
        for axis in range(2):
            least, most = _spread(mesh, shown[axis])
            light[axis, :3], light[axis, 3] = shown[axis] / (most - least), -least / (most - least)
        least, most = _spread(mesh, shown[2])
        light[2, :3], light[2, 3] = shown[2], -least
        return cls(mesh, size, eye, light, most - least)

    def points(self, matrix: Floats) -> Floats:
        """Return all corners as a matrix shows them: float64[triangle, corner, 3]."""
        return self.mesh.corners.astype(float) @ matrix[:, :3].T + matrix[:, 3]

    def eye_frame(self) -> Frame:
        """Return what the eye sees, lit but without shadows."""
        towards = np.array(_LIGHT) / np.linalg.norm(_LIGHT)
        share = _AMBIENT + _DIFFUSE * np.maximum(self.mesh.normals.astype(float) @ towards, 0)
        colours = np.rint(self.mesh.colours[:, None, :3] * share[..., None]).astype(np.uint8)
        shown = self.points(self.eye)
        return Frame(
            self.size, self.size, (140, 178, 230), (Draw("mesh", snap(shown[..., :2], shown[..., 2], colours)),)
        )

    def light_frame(self, side: int) -> Frame:
        """Return what the light sees on a map of ``side`` x ``side`` texels."""
        shown = self.points(self.light)
        black = np.zeros((*shown.shape[:2], 3), np.uint8)
        return Frame(
            side, side, (0, 0, 0), (Draw("map", snap(side * shown[..., :2], shown[..., 2] / self.reach, black)),)
        )

    def from_pixels(self, matrix: Floats) -> Floats:
        """Return what a matrix makes of a pixel: of column, row, the 24-bit depth and 1, float64[3, 4]."""
        steps = FAR - 2 * DEPTH_GUARD
        # Column and row are those of a pixel's left and upper border; it is looked at in its middle.
        pixels = np.array([[1, 0, 0, 0.5], [0, 1, 0, 0.5], [0, 0, 1 / steps, -DEPTH_GUARD / steps], [0, 0, 0, 1]])
        world = np.linalg.inv(np.concatenate([self.eye, [[0, 0, 0, 1]]]))
        return matrix @ world @ pixels

    def samples(self, depths: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
        """Return which pixels are seen, and where in the light's view: int64[n], float64[n, uvz]."""
        which = np.flatnonzero(depths.reshape(-1) != FAR)
        given = np.stack([which % self.size, which // self.size, depths.reshape(-1)[which], np.ones(len(which))])
        return which, (self.from_pixels(self.light) @ given).T


def hidden_exactly(points: Floats, corners: Floats, bias: float = BIAS) -> NDArray[np.bool_]:
    """Return which points, float64[n, uvz], have a triangle of float64[t, corner, uvz] before them, in float64."""
    order = np.argsort(points[:, 1], kind="stable")
    u, v, z = points[order].T
    found = np.zeros(len(points), bool)
    first = np.searchsorted(v, corners[:, :, 1].min(1))
    past = np.searchsorted(v, corners[:, :, 1].max(1), side="right")
    for triangle, begin, end in zip(corners, first.tolist(), past.tolist(), strict=True):
        near = begin + np.flatnonzero(
            (u[begin:end] >= triangle[:, 0].min()) & (u[begin:end] <= triangle[:, 0].max()) & ~found[begin:end]
        )
        weights = [
            (triangle[(k + 1) % 3, 0] - triangle[k, 0]) * (v[near] - triangle[k, 1])
            - (triangle[(k + 1) % 3, 1] - triangle[k, 1]) * (u[near] - triangle[k, 0])
            for k in range(3)
        ]
        area = weights[0] + weights[1] + weights[2]
        inside = (np.stack(weights) * np.sign(area) >= 0).all(axis=0) & (area != 0)
        near = near[inside]
        share = np.stack(weights)[:, inside] / area[inside]
        depth = share[0] * triangle[2, 2] + share[1] * triangle[0, 2] + share[2] * triangle[1, 2]
        found[near] |= z[near] > depth + bias
    back = np.empty(len(points), bool)
    back[order] = found
    return back


def within_rounding(points: Floats, corners: Floats, moved: Floats) -> NDArray[np.bool_]:
    """Return at which points a move by ``moved``, float64[uvz], to either side of each axis changes what is hidden."""
    found = hidden_exactly(points, corners)
    changes = np.zeros(len(points), bool)
    for axis, step in enumerate(moved):
        for sign in (-1, 1):
            changes |= hidden_exactly(points + sign * step * np.eye(3)[axis], corners) != found
    return changes
