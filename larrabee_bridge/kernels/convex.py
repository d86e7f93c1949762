"""Distances of convex bodies by GJK, and their cycles; the reference tries all faces, edges and corners in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import CoresRun, KernelResult, run_kernel
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory
from pixelflow.simd.report import number

Floats = NDArray[np.float64]

CORNERS = 12
"""Of a body: an icosahedron, stretched."""
_FIRST = 4096
_EACH = 1
"""Sixteens of pairs of a thread."""
_BODIES, _PAIRS = 800, 4096
_PART = 128


def _icosahedron() -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Return corners [12, xyz], faces [20, 3] and edges [30, 2]."""
    golden = (1 + 5**0.5) / 2
    corners = np.array(
        [np.roll((0, one, golden * other), turn) for turn in range(3) for one in (-1, 1) for other in (-1, 1)], float
    )
    apart = np.linalg.norm(corners[:, None] - corners, axis=-1)
    near = np.abs(apart - 2) < 1e-9
    edges = np.argwhere(np.triu(near))
    faces = [(a, b, c) for a, b in edges.tolist() for c in range(b + 1, len(corners)) if near[a, c] and near[b, c]]
    return corners / np.linalg.norm(corners[0]), np.array(faces), edges


_BODY, _FACES, _EDGES = _icosahedron()


def icosahedra(count: int, side: float) -> NDArray[np.float32]:
    """Return icosahedra in a box, stretched by 0.3 to 1 along three axes at any angle: float32[count, 12, xyz]."""
    rng = np.random.default_rng(4)
    turns = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    middle = rng.uniform(0, side, (count, 1, 3))
    return ((_BODY * rng.uniform(0.3, 1, (count, 1, 3))) @ turns + middle).astype(np.float32)


class Distances(NamedTuple):
    """Distances of pairs, 0 where they meet, and the run."""

    found: NDArray[np.float32]
    run: CoresRun
    iterations: int
    """Of all sixteens of pairs."""
    taking_part: int
    """Pairs not yet settled, summed over the iterations."""


def distances(bodies: ArrayLike, pairs: ArrayLike, config: CoreConfig | None = None) -> Distances:
    """Return the distances of pairs, int[n, 2] by number, of bodies, float[m, 12, xyz] within 1,000 of the origin."""
    points, which = np.asarray(bodies, np.float32), np.asarray(pairs)
    groups = -(-len(which) // LANES)
    threads = -(-groups // _EACH)
    scratch = (6 * CORNERS + 27) * LINE_BYTES
    table = _FIRST + 3 * LINE_BYTES * len(points)
    found = table + 2 * LINE_BYTES * groups
    begin = found + LINE_BYTES * groups
    memory = ByteMemory(begin + scratch * threads)
    words = memory.data.view(np.uint32)[0]
    held = words.view(np.float32)[_FIRST // 4 : table // 4].reshape(len(points), 3, LANES)
    held[..., :CORNERS] = points.transpose(0, 2, 1)
    # The last sixteen is filled up with its last pair.
    filled = np.concatenate([which, np.repeat(which[-1:], groups * LANES - len(which), axis=0)])
    places = (_FIRST + 3 * LINE_BYTES * filled).reshape(groups, LANES, 2).transpose(0, 2, 1)
    words[table // 4 : found // 4] = places.reshape(-1)
    first = np.arange(0, groups, _EACH)
    unit = VectorUnit(shipped("physics/gjk.mc", POINTS=CORNERS), threads, memory)
    unit.set_scalar(1, table + 2 * LINE_BYTES * first)
    unit.set_scalar(2, np.minimum(_EACH, groups - first))
    unit.set_scalar(3, begin + scratch * np.arange(threads))
    unit.set_scalar(4, found + LINE_BYTES * first)
    run = run_kernel(unit, config)
    answers = words.view(np.float32)[found // 4 : begin // 4][: len(which)].copy()
    return Distances(answers, run, int(unit.scalar(5).sum()), int(unit.scalar(6).sum()))


def exact_distances(bodies: ArrayLike, pairs: NDArray[np.int64]) -> Floats:
    """Return the distances of pairs of such icosahedra in float64, feature by feature.

    They meet if no axis separates them: no normal of a face or of two edges. Otherwise the least distance is between a
    corner and a face, or between two edges.
    """
    points = np.asarray(bodies, np.float64)
    found = []
    for begin in range(0, len(pairs), _PART):
        one, other = (points[pairs[begin : begin + _PART, k]] for k in (0, 1))
        least = np.minimum(_edges_apart(one, other), np.minimum(_corners_apart(one, other), _corners_apart(other, one)))
        found.append(np.where(_meet(one, other), 0, least))
    return np.concatenate(found)


def _meet(one: Floats, other: Floats) -> NDArray[np.bool_]:
    sides = [np.cross(each[:, _FACES[:, 1]] - each[:, _FACES[:, 0]], each[:, _FACES[:, 2]] - each[:, _FACES[:, 0]])
             for each in (one, other)]  # fmt: skip
    along = [each[:, _EDGES[:, 1]] - each[:, _EDGES[:, 0]] for each in (one, other)]
    across = np.cross(along[0][:, :, None], along[1][:, None]).reshape(len(one), -1, 3)
    axes = np.concatenate([*sides, across], axis=1).transpose(0, 2, 1)
    mine, others = one @ axes, other @ axes
    return ~((mine.max(1) < others.min(1)) | (others.max(1) < mine.min(1))).any(axis=1)


def _corners_apart(one: Floats, other: Floats) -> Floats:
    """Return the least distance of corners of one and faces of the other, where a corner is above its face."""
    a, b, c = (other[:, None, _FACES[:, k]] for k in range(3))
    corner = one[:, :, None]
    normal = np.cross(b - a, c - a)
    square = (normal**2).sum(-1)
    shares = [(np.cross(q - p, corner - p) * normal).sum(-1) / square for p, q in ((a, b), (b, c), (c, a))]
    height = np.abs(((corner - a) * normal).sum(-1)) / np.sqrt(square)
    above = (np.stack(shares) >= 0).all(axis=0)
    return np.where(above, height, np.inf).min(axis=(1, 2))


def _edges_apart(one: Floats, other: Floats) -> Floats:
    """Return the least distance of edges of both, ends included (Eberly 1999)."""
    p, q = one[:, _EDGES[:, 0], None], other[:, None, _EDGES[:, 0]]
    d, e = one[:, _EDGES[:, 1], None] - p, other[:, None, _EDGES[:, 1]] - q
    r = p - q
    dd, ee, de, dr, er = ((x * y).sum(-1) for x, y in ((d, d), (e, e), (d, e), (d, r), (e, r)))
    across = dd * ee - de * de
    s = np.where(across > 1e-12 * dd * ee, np.clip((de * er - dr * ee) / np.where(across > 0, across, 1), 0, 1), 0)
    t = np.clip((de * s + er) / ee, 0, 1)
    s = np.clip((de * t - dr) / dd, 0, 1)
    t = np.clip((de * s + er) / ee, 0, 1)
    return np.linalg.norm(r + s[..., None] * d - t[..., None] * e, axis=-1).min(axis=(1, 2))


def _near_pairs(bodies: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the ``count`` pairs whose centres are nearest."""
    middle = bodies.astype(float).mean(1)
    square = ((middle[:, None] - middle) ** 2).sum(-1)
    one, other = np.triu_indices(len(bodies), 1)
    return np.stack([one, other], axis=1)[np.argsort(square[one, other], kind="stable")[:count]]


def gjk_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Find the distances of the 4,096 nearest pairs of 800 bodies."""
    bodies = icosahedra(_BODIES, 14)
    pairs = np.random.default_rng(6).permutation(_near_pairs(bodies, _PAIRS))
    found = distances(bodies, pairs, config)
    wanted = exact_distances(bodies, pairs)
    groups = len(pairs) // LANES
    return KernelResult(
        work=f"{number(len(pairs))} pairs of {number(_BODIES)} icosahedra, stretched by 0.3 to 1, "
        f"{(wanted == 0).mean():.0%} of which meet; the host chooses them by their middles, which is not counted",
        reference="all faces, edges and corners in float64, and separating axes",
        error=float(np.abs(found.found - wanted).max()),
        error_of="of a radius of 1",
        unit="pair",
        units=len(pairs),
        phases=(found.run,),
        limit=f"sixteen pairs continue until the last one is settled: {found.iterations / groups:.1f} iterations, in "
        f"which {found.taking_part / found.iterations:.1f} of them take part; corners come by gathers, a line a lane; "
        f"compares and masked moves are not flops; {number(len(found.run.pieces))} pieces",
    )
