"""Joints between patches: shared boundary edges, identical samples, orientation.

Two patches share an edge if the control points along it are the same binary32 numbers, in the same or the opposite
order. The curve is then the same, and so is each sample on it, although the machine may compute the two with different
last bits: it works through u and v in a fixed order, and an edge may be an edge in u of one patch and in v of another.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import NamedTuple

import numpy as np

from tessellation.surface.patch import Patch


class Side(Enum):
    """A side of the parameter square, in the order of a walk around it that keeps the patch on its left."""

    V0 = 0
    U1 = 1
    V1 = 2
    U0 = 3

    @property
    def forward(self) -> bool:
        """True if the side's parameter grows along the walk."""
        return self in (Side.V0, Side.U1)

    def samples(self, k: int) -> np.ndarray:
        """Return the numbers i * k + j of the samples along this side, its parameter growing; read-only."""
        return _along(self, k)

    def of(self, net: np.ndarray) -> np.ndarray:
        """Return the control points along this side, its parameter growing."""
        match self:
            case Side.U0:
                return net[0]
            case Side.U1:
                return net[-1]
            case Side.V0:
                return net[:, 0]
            case Side.V1:
                return net[:, -1]


@cache
def _along(side: Side, k: int) -> np.ndarray:
    numbers = side.of(np.arange(k * k).reshape(k, k)).copy()
    numbers.setflags(write=False)
    return numbers


def grid(ids: np.ndarray, k: int) -> np.ndarray:
    """Return two triangles per cell of a k x k patch, counter-clockwise in (u, v); ``ids[i * k + j]`` are vertices."""
    square = ids.reshape(k, k)
    a, b, c, d = square[:-1, :-1], square[1:, :-1], square[1:, 1:], square[:-1, 1:]
    lower = np.stack([a, b, c], axis=-1).reshape(-1, 3)
    upper = np.stack([a, c, d], axis=-1).reshape(-1, 3)
    return np.concatenate([lower, upper])


def ring(ids: np.ndarray, k: int, foreign: Mapping[Side, np.ndarray]) -> np.ndarray:
    """Return the triangles of a patch some of whose sides follow a finer neighbour's vertices.

    ``foreign`` has the vertices of these sides, evenly spaced in the growing parameter, corners included. The inner
    samples form a regular grid; a strip joins each side to the outermost of them.
    """
    borders = {side: np.asarray(foreign.get(side, ids[side.samples(k)])) for side in Side}
    if k == 2:
        return _used(_two_chains(borders))
    square = ids.reshape(k, k)[1:-1, 1:-1]
    inner_ids = square.reshape(-1)
    inner = k - 2
    triangles = [grid(inner_ids, inner)] if inner > 1 else []
    for side in Side:
        outer = borders[side]
        outer_at = np.linspace(0.0, 1.0, len(outer))
        near = inner_ids[side.samples(inner)]
        near_at = np.arange(1, k - 1) / (k - 1)
        if not side.forward:
            outer, near = outer[::-1], near[::-1]
        triangles.append(_zip(outer, outer_at, near, near_at))
    return _used(np.concatenate(triangles))


def _two_chains(borders: Mapping[Side, np.ndarray]) -> np.ndarray:
    """Return the triangles of a patch without inner samples: its border from (0, 0) to (1, 1), right chain and left."""

    def chain(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = np.concatenate([np.linspace(0.0, 1.0, len(first)), np.linspace(1.0, 2.0, len(second))[1:]])
        return np.concatenate([first, second[1:]]), at

    right, right_at = chain(borders[Side.V0], borders[Side.U1])
    left, left_at = chain(borders[Side.U0], borders[Side.V1])
    return _zip(right, right_at, left, left_at)


def _zip(right: np.ndarray, right_at: np.ndarray, left: np.ndarray, left_at: np.ndarray) -> np.ndarray:
    """Return the triangles between two chains that run side by side; the second is on the left of the first."""
    a = b = 0
    triangles = []
    while a < len(right) - 1 or b < len(left) - 1:
        if b == len(left) - 1 or (a < len(right) - 1 and right_at[a + 1] <= left_at[b + 1]):
            triangles.append((right[a], right[a + 1], left[b]))
            a += 1
        else:
            triangles.append((right[a], left[b + 1], left[b]))
            b += 1
    return np.array(triangles, dtype=np.int64)


def distinct(triangles: np.ndarray) -> np.ndarray:
    """Return True for each triangle with three different vertices."""
    a, b, c = triangles.T
    return (a != b) & (b != c) & (c != a)


def _used(triangles: np.ndarray) -> np.ndarray:
    return triangles[distinct(triangles)]


class EdgeUse(NamedTuple):
    """One patch's side on a shared edge; ``reverse`` is True if its parameter runs against the edge's."""

    patch: int
    side: Side
    reverse: bool

    def samples(self, k: int) -> np.ndarray:
        """Return the patch's own sample numbers along the edge, in the edge's direction."""
        numbers = self.side.samples(k)
        return numbers[::-1] if self.reverse else numbers

    @property
    def walk_forward(self) -> bool:
        """True if a walk around the patch runs in the edge's direction."""
        return self.side.forward != self.reverse


class SharedEdge(NamedTuple):
    """A boundary curve and every side on it: one use is an open edge, two are a joint."""

    uses: tuple[EdgeUse, ...]


class Joints(NamedTuple):
    """All boundary edges of a list of patches: curves, and edges that are a single point."""

    edges: tuple[SharedEdge, ...]
    point_edges: tuple[EdgeUse, ...]

    @property
    def shared(self) -> int:
        """Edges with two sides or more."""
        return sum(len(edge.uses) > 1 for edge in self.edges)

    @property
    def open(self) -> int:
        """Edges of one patch alone."""
        return sum(len(edge.uses) == 1 for edge in self.edges)


_POINT_BYTES = 12


def _single(patch: Patch) -> np.ndarray:
    """Return the control points of a patch in binary32, without signs of zeros: equal ones have equal bytes."""
    return patch.points32 + np.float32(0.0)


def find_joints(patches: Sequence[Patch]) -> Joints:
    """Return the boundary edges of the patches; control points are compared as binary32, -0 and +0 are the same."""
    uses: dict[bytes, list[EdgeUse]] = defaultdict(list)
    points: list[EdgeUse] = []
    for index, patch in enumerate(patches):
        net = _single(patch)
        for side in Side:
            curve = side.of(net)
            forward = curve.tobytes()
            if forward == forward[:_POINT_BYTES] * len(curve):
                points.append(EdgeUse(index, side, reverse=False))
                continue
            backward = curve[::-1].tobytes()
            uses[min(forward, backward)].append(EdgeUse(index, side, reverse=backward < forward))
    return Joints(tuple(SharedEdge(tuple(found)) for found in uses.values()), tuple(points))


def sample_groups(patches: Sequence[Patch], samples: Sequence[int], joints: Joints) -> np.ndarray:
    """Return for each sample of each patch (patch by patch, i * k + j) the number of the first identical sample.

    Samples are identical at equal parameters of a shared edge, along an edge that is a point, and at equal corners.
    """
    starts = np.concatenate(([0], np.cumsum([k * k for k in samples])))
    parent = list(range(int(starts[-1])))

    def find(sample: int) -> int:
        while parent[sample] != sample:
            parent[sample] = parent[parent[sample]]
            sample = parent[sample]
        return sample

    def join(a: int, b: int) -> None:
        a, b = find(a), find(b)
        parent[max(a, b)] = min(a, b)

    for edge in joints.edges:
        if len(edge.uses) == 1:
            continue
        seen: dict[float, int] = {}  # equal shares of so few samples are equal numbers, others are far apart
        for use in edge.uses:
            k = samples[use.patch]
            for number, sample in enumerate((starts[use.patch] + use.samples(k)).tolist()):
                join(seen.setdefault(number / (k - 1), sample), sample)
    for use in joints.point_edges:
        numbers = starts[use.patch] + use.samples(samples[use.patch])
        for number in numbers[1:]:
            join(int(numbers[0]), int(number))
    corners: dict[bytes, int] = {}
    for index, patch in enumerate(patches):
        k = samples[index]
        net = _single(patch)
        for i, j in ((0, 0), (0, -1), (-1, 0), (-1, -1)):
            here = int(starts[index]) + i % k * k + j % k
            there = corners.setdefault(net[i, j].tobytes(), here)
            if there != here:
                join(there, here)
    groups = np.array(parent, dtype=np.int64)
    while (groups != groups[groups]).any():  # no sample has a parent with a larger number
        groups = groups[groups]
    return groups


class Orientation(NamedTuple):
    """Patches to turn over so that connected ones face the same way.

    ``part`` numbers the connected parts of the surface, patch by patch. ``refusals`` counts joints that cannot be made
    consistent, as on a surface with one side only, like a Moebius strip.
    """

    turned: np.ndarray
    part: np.ndarray
    refusals: int


def orient(count: int, joints: Joints) -> Orientation:
    """Return how to turn ``count`` patches; if connected patches disagree, the smaller party is turned.

    An edge with three or more sides has no effect.
    """
    neighbours: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for edge in joints.edges:
        if len(edge.uses) != 2 or edge.uses[0].patch == edge.uses[1].patch:
            continue
        a, b = edge.uses
        disagree = a.walk_forward == b.walk_forward
        neighbours[a.patch].append((b.patch, disagree))
        neighbours[b.patch].append((a.patch, disagree))
    turned = [False] * count
    part = [-1] * count
    parts = refusals = 0
    for first in range(count):
        if part[first] >= 0:
            continue
        part[first] = parts
        parts += 1
        members, queue = [first], deque([first])
        while queue:
            patch = queue.popleft()
            for other, disagree in neighbours[patch]:
                if part[other] < 0:
                    part[other] = part[first]
                    turned[other] = turned[patch] != disagree
                    members.append(other)
                    queue.append(other)
                elif turned[other] != (turned[patch] != disagree):
                    refusals += 1
        if 2 * sum(turned[member] for member in members) > len(members):
            for member in members:
                turned[member] = not turned[member]
    return Orientation(np.array(turned, dtype=bool), np.array(part, dtype=np.int64), refusals // 2)
