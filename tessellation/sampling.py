"""Sampling by view: numbers of samples of patches, and dropped patches, for a camera and a tolerance (2.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from math import comb
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.report import Json, counted, number, plural, ranged
from tessellation.picture import Camera, Standpoint, View
from tessellation.plan.mapping import MAX_SAMPLES, MIN_SAMPLES
from tessellation.surface.mesh import finer_sides
from tessellation.surface.patch import Patch
from tessellation.surface.reference import evaluate, weights_at
from tessellation.surface.topology import Side, find_joints, orient, ring

# A bound on the distance of a patch's triangles from it on the screen, by second differences of its control points.
#
# Filip, Magedson and Markot (Surface algorithms using bounds on derivatives, CAGD 3, 1986): if a triangle's corners
# are on a surface S inside a cell of h_u x h_v of its parameters, linear interpolation L is off by at most
#
# |S - L| <= (h_u^2 M_uu + 2 h_u h_v M_uv + h_v^2 M_vv) / 8,
#
# M the largest size of a second derivative. It holds for any triangle in the cell, not only for halves of it: with
# weights w_i of the corners, the error is half the sum of w_i times the second derivative along the way to corner i,
# and the variance of the corners' u is at most h_u^2 / 4. A second derivative of a Bezier patch is a patch whose
# control points are second differences times m (m - 1), m n and n (n - 1) (Farin), so that their largest size is a
# bound.
#
# On the screen, with w the distance along the view, f pixels at distance 1 and s the place of S from the middle,
#
# screen(S) - screen(L) = (f (S - L)_xy - s (S - L)_w) / w_L,
#
# which is linear in S - L for a given s, convex in s, and s is in the hull of the control points on the screen. So
# the largest value over all control points is a bound for all s, and the nearest control point one for w_L.


_CELL = 8.0
"""The divisor of the theorem."""


def by_counts(patches: Sequence[Patch]) -> dict[tuple[int, int], NDArray[np.int64]]:
    """Return the numbers of the patches of each net size."""
    sizes = dict.fromkeys(patch.counts for patch in patches)
    return {size: np.flatnonzero([patch.counts == size for patch in patches]) for size in sizes}


def seen_nets(patches: Sequence[Patch], standpoint: Standpoint) -> NDArray[np.float64]:
    """Return control points of patches of one net size as the camera sees them: right, up, distance along the view.

    The shape is (patches, m + 1, n + 1, 3); they start from the binary32 numbers that the machine gets.
    """
    nets = np.stack([patch.points32 for patch in patches]).astype(np.float64)
    local = (standpoint.placed(nets) - standpoint.camera.eye) @ standpoint.camera.axes.T
    return local * (1.0, 1.0, -1.0)


class SecondDifferences:
    """Second differences of patches of one net size, seen by a camera."""

    def __init__(self, nets: NDArray[np.float64], focal: float) -> None:
        """``nets`` come from `seen_nets`; a patch with a control point in or behind the eye's plane has no bound."""
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
        """Return the bound in pixels of each patch with these numbers of steps a side; infinite without one."""
        u, v = 1 / steps_u, 1 / steps_v
        bounds = (u * u * self._uu + 2 * u * v * self._uv + v * v * self._vv).max(axis=1) / _CELL
        return np.where(self._bounded, bounds, np.inf)


# Invisible patches: those outside the picture, and of closed surfaces those that face away.
#
# Both tests are exact except for the rounding of 64-bit floats. A patch is in the hull of its control points, so that
# it is outside if all of these are past one side of the picture. The sign of
#
# (S - eye) . (S_u x S_v)
#
# says if the surface at (u, v) faces the eye. It is itself a Bezier polynomial of degrees 3m - 1 and 3n - 1; its
# coefficients are computed from those of its three factors, and if all of them have one sign the patch faces one way
# (Farin: the hull property again).


_ROUNDING = 1e-12
"""Share of the product of the sizes of the factors below which a coefficient has no sign."""


def outside(nets: NDArray[np.float64], camera: Camera) -> NDArray[np.bool_]:
    """Return True for patches all of whose control points are past one side of the picture, or behind the eye.

    ``nets`` come from `seen_nets`.
    """
    right, up, distance = np.moveaxis(nets.reshape(len(nets), -1, 3), -1, 0)
    across, high = camera.width / 2 * distance, camera.height / 2 * distance
    x, y = camera.focal * right, camera.focal * up
    sides = (x < -across, x > across, y < -high, y > high, distance <= 0)
    return np.any([side.all(axis=1) for side in sides], axis=0)


def faces_away(nets: NDArray[np.float64], outwards: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return True for patches whose outer side is invisible from the eye; ``outwards`` is 1, or -1 for turned ones.

    ``nets`` come from `seen_nets`, whose third axis is opposite to a right-handed system's.
    """
    coefficients, size = _facing(nets * (1.0, 1.0, -1.0))
    coefficients = coefficients * outwards[:, None, None]
    least, most = coefficients.min(axis=(1, 2)), coefficients.max(axis=(1, 2))
    facing: NDArray[np.bool_] = (least >= -_ROUNDING * size) & (most > _ROUNDING * size)
    return facing


def outward(patches: Sequence[Patch]) -> NDArray[np.int64]:
    """Return 1 for each patch whose dP/du x dP/dv points out of the volume that its part encloses, else -1.

    The volume of a part is a third of the integral of the polynomial above, which is the mean of its coefficients.
    Raises InputError for a surface with one side only.
    """
    joints = find_joints(patches)
    orientation = orient(len(patches), joints)
    if orientation.refusals:
        raise InputError(
            Fault("a surface with one side only has no side that faces away", hint="do not call it one-sided")
        )
    signs = np.where(orientation.turned, -1, 1)
    nets = [patch.points32.astype(np.float64) for patch in patches]
    found = np.ones(len(patches), np.int64)
    for part in set(orientation.part.tolist()):
        members = np.flatnonzero(orientation.part == part).tolist()
        centre = np.concatenate([nets[each].reshape(-1, 3) for each in members]).mean(axis=0)
        volume = sum(signs[each] * float(_facing((nets[each] - centre)[None])[0].mean()) for each in members)
        found[members] = signs[members] * (1 if volume >= 0 else -1)
    return found


@cache
def _binomials(m: int, n: int) -> NDArray[np.float64]:
    return np.outer([comb(m, i) for i in range(m + 1)], [comb(n, j) for j in range(n + 1)]).astype(np.float64)


def _facing(nets: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the coefficients of S . (S_u x S_v) for nets seen from 0, and the product of the sizes of its factors."""
    m, n = nets.shape[1] - 1, nets.shape[2] - 1
    along_u, along_v = m * np.diff(nets, axis=1), n * np.diff(nets, axis=2)
    size = np.ones(len(nets))
    scaled = []
    for factor, degrees in ((nets, (m, n)), (along_u, (m - 1, n)), (along_v, (m, n - 1))):
        size = size * np.linalg.norm(factor, axis=-1).max(axis=(1, 2))
        scaled.append(factor * _binomials(*degrees)[..., None])
    place, u, v = scaled
    # Products of polynomials in this form are sums over pairs of coefficients.
    cross = np.zeros((len(nets), 2 * m, 2 * n, 3))
    for i, j in np.ndindex(*u.shape[1:3]):
        cross[:, i : i + m + 1, j : j + n] += np.cross(u[:, i, j, None, None], v)
    coefficients = np.zeros((len(nets), 3 * m, 3 * n))
    for i, j in np.ndindex(*place.shape[1:3]):
        coefficients[:, i : i + 2 * m, j : j + 2 * n] += (place[:, i, j, None, None] * cross).sum(axis=-1)
    return coefficients / _binomials(3 * m - 1, 3 * n - 1), size


# The choice of k for each patch, from a camera and a tolerance in pixels (thesis 2.1).
#
# The thesis samples a patch k x k at the resolution that the application marks it with, and says that the best one
# depends on the view (Kumar and Manocha). Here it is the smallest allowed k whose bound is within the tolerance. One k
# holds for both directions: `pixelflow study sampling` has what two would take.


COUNTS = {"any": tuple(range(MIN_SAMPLES, MAX_SAMPLES + 1)), "powers": (2, 4, 8, 16)}
"""Numbers of samples along a side by name. Any number has a place on the array, but those between powers of two leave
PEs idle, and each number in a pass needs a load of its Bernstein values."""

LEAST_TOLERANCE, LARGEST_TOLERANCE = 1 / 256, 1000.0
"""In pixels; corners are rounded to 1/256 pixel anyway."""

TOLERANCES = f"{LEAST_TOLERANCE:g} to {LARGEST_TOLERANCE:g} pixels"


class Fate(Enum):
    """Treatment of a patch."""

    SAMPLED = "within the tolerance"
    LIMITED = "at 16, not within the tolerance"
    OUTSIDE = "outside the picture"
    AWAY = "facing away"

    @property
    def dropped(self) -> bool:
        """True if the patch is not tessellated."""
        return self in (Fate.OUTSIDE, Fate.AWAY)


@dataclass(frozen=True, slots=True)
class Sampling:
    """An application's wish: at most ``tolerance`` pixels between triangles and surface, with numbers of `COUNTS`.

    Raises InputError for a tolerance or a name that is not allowed.
    """

    tolerance: float
    counts: str = "any"

    def __post_init__(self) -> None:
        if not LEAST_TOLERANCE <= self.tolerance <= LARGEST_TOLERANCE:
            raise InputError(Fault(f"a tolerance of {self.tolerance:g} pixels", hint=f"allowed: {TOLERANCES}"))
        if self.counts not in COUNTS:
            near = nearest(self.counts, COUNTS)
            hint = f"did you mean {near}?" if near else f"allowed: {', '.join(COUNTS)}"
            raise InputError(Fault(f"unknown numbers of samples {self.counts!r}", hint=hint))


class SampleChoice(NamedTuple):
    """The choice for patches in the caller's order."""

    samples: tuple[int, ...]
    """Along a side; 0 for a dropped patch."""
    fates: tuple[Fate, ...]
    bounds: tuple[float, ...]
    """Largest distance of triangles from the surface, in pixels; 0 for a dropped patch, infinite without a bound."""
    by_direction: int
    """Samples with a separate number for each direction, by the same bound; not executed."""

    @property
    def kept(self) -> tuple[int, ...]:
        """The patches that are tessellated, by number."""
        return tuple(number for number, k in enumerate(self.samples) if k)

    @property
    def triangles(self) -> int:
        """Triangles of their grids."""
        return sum(2 * (k - 1) ** 2 for k in self.samples if k)

    @property
    def total(self) -> int:
        """Samples of all patches."""
        return sum(k * k for k in self.samples)

    @property
    def bound(self) -> float:
        """The largest of the bounds."""
        return max(self.bounds, default=0.0)

    def count(self, fate: Fate) -> int:
        """Return the number of patches with this fate."""
        return self.fates.count(fate)

    @property
    def texts(self) -> tuple[str, ...]:
        """The lines of a report."""
        sizes = Counter(k for k in self.samples if k)
        sampled = ", ".join(f"{count} at {k}" for k, count in sorted(sizes.items()))
        dropped = [f"{self.count(fate)} {fate.value}" for fate in Fate if fate.dropped]
        lines = [f"{plural(len(self.samples), 'patch')}: {sampled or 'none sampled'}", f"dropped: {', '.join(dropped)}"]
        if limited := self.count(Fate.LIMITED):
            lines.append(f"{plural(limited, 'patch')} {Fate.LIMITED.value}")
        return (
            *lines,
            f"{number(self.total)} samples; triangles within {self.bound:.3g} pixels of the surface, a bound",
        )

    def as_object(self) -> dict[str, Json]:
        """Return it for JSON."""
        return {
            "samples": list(self.samples),
            "total": self.total,
            "bound_pixels": None if np.isinf(self.bound) else self.bound,
            "sampled": self.count(Fate.SAMPLED),
            "limited": self.count(Fate.LIMITED),
            "outside": self.count(Fate.OUTSIDE),
            "away": self.count(Fate.AWAY),
        }


class SeenPatches(NamedTuple):
    """Patches before a camera, with the wish for each; ``outwards`` is 0 for patches whose back is visible too."""

    patches: tuple[Patch, ...]
    standpoint: Standpoint
    sampling: tuple[Sampling, ...]
    outwards: NDArray[np.int64]

    def choice(self, counts: str | None = None) -> SampleChoice:
        """Return the choice for them, with other ``counts`` if given."""
        wanted = [each if counts is None else replace(each, counts=counts) for each in self.sampling]
        return choose(self.patches, self.standpoint, wanted, self.outwards)


def choose(
    patches: Sequence[Patch],
    standpoint: Standpoint,
    sampling: Sampling | Sequence[Sampling],
    outwards: NDArray[np.int64] | None = None,
) -> SampleChoice:
    """Return k for each patch before a camera, and which patches are dropped.

    ``sampling`` is one for all patches or one each. ``outwards`` comes from `outward` for closed surfaces, with 0 for
    patches whose back is visible too; without it no patch is dropped because it faces away.
    """
    wanted = [sampling] * len(patches) if isinstance(sampling, Sampling) else list(sampling)
    tolerances = np.array([each.tolerance for each in wanted])
    samples = np.zeros(len(patches), np.int64)
    bounds, directions = np.zeros(len(patches)), np.zeros(len(patches), np.int64)
    fates = np.full(len(patches), Fate.SAMPLED, object)
    for numbers in by_counts(patches).values():
        nets = seen_nets([patches[each] for each in numbers], standpoint)
        second = SecondDifferences(nets, standpoint.camera.focal)
        for name in {wanted[each].counts for each in numbers}:
            of = np.array([wanted[each].counts == name for each in numbers])
            samples[numbers[of]], bounds[numbers[of]] = (
                each[of] for each in _smallest(second, tolerances[numbers], name)
            )
        directions[numbers] = _by_direction(second, tolerances[numbers])
        if outwards is not None:
            away = faces_away(nets, outwards[numbers]) & (outwards[numbers] != 0)
            fates[numbers[away]] = Fate.AWAY
        fates[numbers[outside(nets, standpoint.camera)]] = Fate.OUTSIDE
    fates[(fates == Fate.SAMPLED) & (bounds > tolerances)] = Fate.LIMITED
    dropped = np.array([fate.dropped for fate in fates], bool)
    samples[dropped], bounds[dropped] = 0, 0.0
    return SampleChoice(
        tuple(samples.tolist()), tuple(fates.tolist()), tuple(bounds.tolist()), int(directions[~dropped].sum())
    )


def _smallest(
    second: SecondDifferences, tolerances: NDArray[np.float64], name: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the smallest allowed k and its bound; the largest allowed if none is within the tolerance."""
    counts = COUNTS[name]
    bounds = np.stack([second.bounds(k - 1, k - 1) for k in counts])
    within = bounds <= tolerances
    first = np.where(within.any(axis=0), within.argmax(axis=0), len(counts) - 1)
    return np.array(counts)[first], bounds[first, np.arange(len(first))]


def _by_direction(second: SecondDifferences, tolerances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the fewest samples along u times those along v that keep each patch within its tolerance."""
    fewest = np.full(len(tolerances), MAX_SAMPLES**2)
    for u in COUNTS["any"]:
        for v in COUNTS["any"]:
            fewest = np.where(second.bounds(u - 1, v - 1) <= tolerances, np.minimum(fewest, u * v), fewest)
    return fewest


def choice_facts(choice: SampleChoice | None) -> list[tuple[str, str]]:
    """Return the lines of a report, with the name of the first; none without a choice."""
    return [] if choice is None else [("sampling by view" * (not at), text) for at, text in enumerate(choice.texts)]


def unseen_facts(unseen: Sequence[int], frames: int) -> list[tuple[str, str]]:
    """Return the line of a report about frames in which nothing is seen, out of this many, if there are any.

    Raises InputError if that is all of them.
    """
    if not unseen:
        return []
    if len(unseen) == frames:
        raise InputError(Fault(f"nothing is seen in any frame of {ranged(unseen)}", hint="name others with --frames"))
    return [("nothing seen", f"in {len(unseen)} of {counted(frames, 'frame')}, which are left out: {ranged(unseen)}")]


_OUTLINE = 16
"""Samples along a side of the evaluation by which a camera is placed."""


def choose_before(patches: Sequence[Patch], view: View, sampling: Sampling, *, one_sided: bool = False) -> SampleChoice:
    """Return the choice for patches before a camera that has all of them in its picture, except for its zoom.

    Raises InputError for patches without extent, for a ``one_sided`` surface with one side only, and if nothing is
    visible.
    """
    outline = outline_of(patches)
    if not np.ptp(outline, axis=0).any():
        raise InputError(Fault("there is nothing to see: all samples are one point"))
    choice = choose(patches, Standpoint.of(outline, view), sampling, outward(patches) if one_sided else None)
    if not choice.kept:
        raise InputError(Fault("no patch is seen: all are outside or face away", hint="take another camera"))
    return choice


def outline_of(patches: Sequence[Patch]) -> np.ndarray:
    """Return points of the surfaces by which a camera is placed: float64[point, xyz]."""
    return np.concatenate([
        evaluate(np.stack([patches[number].points for number in numbers]), _OUTLINE).points.reshape(-1, 3)
        for numbers in by_counts(patches).values()
    ])  # fmt: skip


# The distance of triangles from their surface on the screen, measured at many points of every triangle in float64.
#
# The triangles are those of a welded mesh, with the strips along finer neighbours. At a parameter (u, v) the surface is
# evaluated in float64, and the triangle that covers (u, v) is interpolated between its corners, the machine's samples;
# both are projected, and their distance in pixels is the error there. The result is a lower bound of the largest error,
# where `SecondDifferences` has an upper one.


_STEPS = 6
"""Steps along a side of a triangle."""

_MOST = 1 << 21
"""Points evaluated at a time."""


class Sampled(Protocol):
    """A patch and the points of its samples, [i, j, xyz]."""

    @property
    def patch(self) -> Patch:
        """The patch."""

    @property
    def points(self) -> np.ndarray:
        """Points at u = i / (k - 1) and v = j / (k - 1)."""


class _Exact(NamedTuple):
    """A patch and its samples in 64 bits."""

    patch: Patch
    points: np.ndarray


def pixel_errors(samples: Sequence[Sampled], standpoint: Standpoint) -> NDArray[np.float64]:
    """Return the largest distance of each patch's triangles from its surface, in pixels: float64[patch].

    Points nearer than the near plane are left out.
    """
    patches, counts = [each.patch for each in samples], [len(each.points) for each in samples]
    starts = np.concatenate(([0], np.cumsum([k * k for k in counts])))
    points = np.concatenate([each.points.reshape(-1, 3) for each in samples]).astype(np.float64)
    finer: dict[int, list[tuple[Side, NDArray[np.int64]]]] = {}
    for (patch, side), line in finer_sides(counts, find_joints(patches), starts).items():
        finer.setdefault(patch, []).append((side, line))
    errors = np.zeros(len(samples))
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
            errors[members] = _largest(nets, points[corners], triangles, places, standpoint)
    return errors


def samples_alike(patches: Sequence[Patch], standpoint: Standpoint, most: float) -> int:
    """Return the smallest k with which no patch has an error above ``most`` pixels, or 16; by exact samples."""
    for k in range(MIN_SAMPLES, MAX_SAMPLES):
        exact = [_Exact(patch, evaluate(patch.points[None], k).points[0]) for patch in patches]
        if pixel_errors(exact, standpoint).max(initial=0.0) <= most:
            return k
    return MAX_SAMPLES


def _parameters(k: int, sides: Sequence[Side], lengths: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the triangles of a patch and the parameters of its vertices, those on finer sides after its own."""
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
    """Return the largest error of patches with the same triangles: ``points`` are float64[patch, vertex, xyz]."""
    weights = np.array([
        (a, b, _STEPS - a - b) for a in range(_STEPS + 1) for b in range(_STEPS + 1 - a)
    ]) / _STEPS  # fmt: skip
    largest = np.zeros(len(nets))
    size = max(1, _MOST // (len(weights) * len(nets)))
    for first in range(0, len(triangles), size):
        part = triangles[first : first + size]
        at = np.einsum("wc,tcx->twx", weights, places[part]).reshape(-1, 2)
        u, v = (weights_at(count - 1, at[:, axis]) for axis, count in enumerate(nets.shape[1:3]))
        basis = (u[:, :, None] * v[:, None, :]).reshape(len(at), -1)
        surface = np.einsum("ab,pbx->pax", basis, nets.reshape(len(nets), -1, 3), optimize=True)
        flat = np.einsum("wc,ptcx->ptwx", weights, points[:, part], optimize=True).reshape(surface.shape)
        seen, drawn = standpoint.undivided(surface), standpoint.undivided(flat)
        there = np.minimum(seen[..., 2], drawn[..., 2]) > standpoint.near  # the rest is cut away
        with np.errstate(divide="ignore", invalid="ignore"):
            off = standpoint.camera.divided(seen) - standpoint.camera.divided(drawn)
        largest = np.maximum(largest, np.where(there, np.linalg.norm(off[..., :2], axis=-1), 0).max(axis=1))
    return largest
