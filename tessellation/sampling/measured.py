"""How far triangles are from their surface on the screen, measured: at many points of every triangle, in float64.

The triangles are those of a welded mesh, with the strips along finer neighbours. At a parameter (u, v) the surface is
evaluated in float64, and the triangle that covers (u, v) is interpolated between its corners, which are the samples
that the machine has made; both are projected, and their distance in pixels is the error there. What is found is a
lower bound of the largest error, as `bound.py` has an upper one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tessellation.picture import Standpoint
from tessellation.plan.mapping import MAX_SAMPLES, MIN_SAMPLES
from tessellation.sampling.bound import by_counts
from tessellation.surface.mesh import finer_sides
from tessellation.surface.patch import Patch
from tessellation.surface.reference import evaluate
from tessellation.surface.topology import find_joints
from tessellation.surface.triangles import Side, ring

__all__ = ["Sampled", "pixel_errors", "samples_alike"]

_STEPS = 6
"""A side of a triangle is cut into so many."""

_MOST = 1 << 21
"""Points that are evaluated at a time."""


class Sampled(Protocol):
    """A patch and the points of its samples, [i, j, xyz]."""

    @property
    def patch(self) -> Patch:
        """The patch."""

    @property
    def points(self) -> np.ndarray:
        """Points at u = i / (k - 1) and v = j / (k - 1)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Exact:
    """A patch and its samples in 64 bits."""

    patch: Patch
    points: np.ndarray


def pixel_errors(samples: Sequence[Sampled], standpoint: Standpoint) -> NDArray[np.float64]:
    """Return the largest distance of each patch's triangles from its surface, in pixels: float64[patch].

    Where one of the two lies before the near plane nothing is measured.
    """
    patches, counts = [each.patch for each in samples], [len(each.points) for each in samples]
    starts = np.concatenate(([0], np.cumsum([k * k for k in counts])))
    points = np.concatenate([each.points.reshape(-1, 3) for each in samples]).astype(np.float64)
    finer: dict[int, list[tuple[Side, NDArray[np.int64]]]] = {}
    for (patch, side), line in finer_sides(counts, find_joints(patches), starts).items():
        finer.setdefault(patch, []).append((side, line))
    found = np.zeros(len(samples))
    for numbers in by_counts(patches).values():
        alike: dict[tuple[object, ...], list[int]] = {}
        for number in numbers.tolist():
            borders = sorted(((side.value, len(line)) for side, line in finer.get(number, ())))
            alike.setdefault((counts[number], *borders), []).append(number)
        for members in alike.values():
            k = counts[members[0]]
            sides = [side for side, _ in sorted(finer.get(members[0], ()), key=lambda one: one[0].value)]
            lines = [dict(finer.get(number, ())) for number in members]
            lengths = [len(lines[0][side]) for side in sides]
            triangles, places = _parameters(k, sides, lengths)
            corners = np.stack([
                np.concatenate([starts[number] + np.arange(k * k), *(line[side] for side in sides)])
                for number, line in zip(members, lines, strict=True)
            ])  # fmt: skip
            nets = np.stack([patches[number].points32 for number in members]).astype(np.float64)
            found[members] = _largest(nets, points[corners], triangles, places, standpoint)
    return found


def samples_alike(patches: Sequence[Patch], standpoint: Standpoint, most: float) -> int:
    """Return the smallest k with which no patch has an error above ``most`` pixels, or 16; by exact samples."""
    for k in range(MIN_SAMPLES, MAX_SAMPLES):
        exact = [_Exact(patch, evaluate(patch.points[None], k).points[0]) for patch in patches]
        if pixel_errors(exact, standpoint).max(initial=0.0) <= most:
            return k
    return MAX_SAMPLES


def _parameters(k: int, sides: Sequence[Side], lengths: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the triangles of a patch and the parameters of its vertices, of those on finer sides after its own."""
    at = np.linspace(0.0, 1.0, k)
    places = [np.stack(np.meshgrid(at, at, indexing="ij"), axis=-1).reshape(-1, 2)]
    foreign, first = {}, k * k
    for side, length in zip(sides, lengths, strict=True):
        line = np.linspace(0.0, 1.0, length)
        along_u = side in (Side.V0, Side.V1)
        fixed = np.full(length, float(side in (Side.U1, Side.V1)))
        places.append(np.stack([line, fixed] if along_u else [fixed, line], axis=-1))
        foreign[side] = np.arange(first, first + length)
        first += length
    corners: NDArray[np.int64] = ring(np.arange(k * k), k, foreign)
    return corners, np.concatenate(places)


def _largest(
    nets: NDArray[np.float64],
    points: NDArray[np.float64],
    triangles: NDArray[np.int64],
    places: NDArray[np.float64],
    standpoint: Standpoint,
) -> NDArray[np.float64]:
    """Return the largest error of patches whose triangles lie alike: ``points`` are float64[patch, vertex, xyz]."""
    weights = np.array([
        (a, b, _STEPS - a - b) for a in range(_STEPS + 1) for b in range(_STEPS + 1 - a)
    ]) / _STEPS  # fmt: skip
    found = np.zeros(len(nets))
    size = max(1, _MOST // (len(weights) * len(nets)))
    for first in range(0, len(triangles), size):
        part = triangles[first : first + size]
        at = np.einsum("wc,tcx->twx", weights, places[part]).reshape(-1, 2)
        u, v = (_bernstein(count - 1, at[:, axis]) for axis, count in enumerate(nets.shape[1:3]))
        basis = (u[:, :, None] * v[:, None, :]).reshape(len(at), -1)
        surface = np.einsum("ab,pbx->pax", basis, nets.reshape(len(nets), -1, 3), optimize=True)
        flat = np.einsum("wc,ptcx->ptwx", weights, points[:, part], optimize=True).reshape(surface.shape)
        seen, drawn = standpoint.undivided(surface), standpoint.undivided(flat)
        there = np.minimum(seen[..., 2], drawn[..., 2]) > standpoint.near  # what is cut away has no place
        with np.errstate(divide="ignore", invalid="ignore"):
            off = standpoint.camera.divided(seen) - standpoint.camera.divided(drawn)
        found = np.maximum(found, np.where(there, np.linalg.norm(off[..., :2], axis=-1), 0).max(axis=1))
    return found


def _bernstein(degree: int, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return B_0 .. B_degree at any parameters: float64[parameter, degree + 1]."""
    found = np.ones((len(at), 1))
    for _ in range(degree):
        raised = np.zeros((len(at), found.shape[1] + 1))
        raised[:, :-1] += found * (1 - at)[:, None]
        raised[:, 1:] += found * at[:, None]
        found = raised
    return found
