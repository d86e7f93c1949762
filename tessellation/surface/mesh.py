"""Triangles from samples: one vertex per sample, or one per shared sample (welded).

A welded mesh has no cracks along shared edges, and :func:`check` proves it for a given mesh: every triangle side is
used twice, in opposite directions, or is on an edge of one patch alone. If neighbours have different numbers of
samples, the coarser one takes the finer one's samples along their edge. Without welding every sample keeps the
machine's own bits, and the report has the largest gap between samples that should be one.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.report import RasterImage, Report, Shown, overview
from tessellation.surface import topology
from tessellation.surface.patch import trimmed
from tessellation.surface.reference import UNIT, PatchSamples, surface_at
from tessellation.surface.trim_cells import SampledPart, Stitched, stitch


class MeshReport(NamedTuple):
    """Counts from the construction of a mesh.

    ``uneven_edges`` are shared edges between patches of different sample counts, where an unwelded mesh is open between
    the samples. ``largest_gap`` is the largest distance along an axis between samples that should be one, in units of
    2^-24 magnitude. ``turned_patches`` were turned over for a consistent orientation, ``refused_joints`` could not be
    made consistent (a surface with one side). ``repaired_normals`` are degenerate samples that got the mean of the
    normals of the adjacent triangles; ``unrepaired_normals`` have no triangle with an area and got +z.
    """

    welded: bool
    shared_edges: int
    open_edges: int
    point_edges: int
    uneven_edges: int
    largest_gap: float
    turned_patches: int
    refused_joints: int
    repaired_normals: int
    unrepaired_normals: int
    trimmed_patches: int = 0
    cut_triangles: int = 0
    """Triangles of cells that a trim runs through, or that share an edge with a trimmed patch."""
    border_points: tuple[int, ...] = ()
    """Vertices of each patch that are not samples: along trims, and at the samples of neighbours."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mesh(Shown):
    """Vertices with unit normals, and triangles whose vertices run counter-clockwise seen against the normal.

    ``points`` and ``normals`` are float32 [vertex, xyz], ``triangles`` int32 [triangle, 3], ``patches`` int32, the
    patch of each triangle. ``open_sides`` holds the pairs of vertices on edges of one patch alone. ``samples``
    int64 [vertex] is the sample at each vertex, counted over all patches in the caller's order; -1 for points of trims.
    """

    points: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    patches: np.ndarray
    open_sides: np.ndarray
    samples: np.ndarray
    built: MeshReport
    drawer: Callable[[Mesh], RasterImage] | None = None
    """Makes its picture for a notebook; passed in, since drawing is a layer above."""

    def __repr__(self) -> str:
        return f"Mesh({len(self.points)} vertices, {len(self.triangles)} triangles)"

    def report(self) -> Report:
        """Return its size, and the counts from its construction."""
        built = self.built
        edges = f"{built.shared_edges} shared, {built.open_edges} open, {built.point_edges} shrunk to a point"
        facts = (
            ("vertices", f"{len(self.points):,}{', welded' * built.welded}"),
            ("triangles", f"{len(self.triangles):,}"),
            ("patch edges", edges),
            ("normals", f"{built.repaired_normals:,} repaired" if built.repaired_normals else ""),
        )
        return overview("mesh", facts)

    def picture(self) -> RasterImage | None:
        """Return a shaded picture; None without a drawer, or if no triangle has an area."""
        try:
            return None if self.drawer is None else self.drawer(self)
        except InputError:
            return None


class MeshCheck(NamedTuple):
    """Counts of defects in a welded mesh.

    ``cracks``: triangle sides used once that are on no open edge. ``inconsistent``: used twice in one direction.
    ``crowded``: used three or more times (three patches meet in one edge).
    """

    cracks: int
    inconsistent: int
    crowded: int

    @property
    def clean(self) -> bool:
        """True if the surface is closed along every shared edge and faces one way."""
        return not (self.cracks or self.inconsistent or self.crowded)


def build_mesh(
    patches: Sequence[PatchSamples],
    *,
    weld: bool,
    outward: bool = False,
    drawer: Callable[[Mesh], RasterImage] | None = None,
) -> Mesh:
    """Return the triangles of all patches, with one vertex per sample, or with ``weld`` one per shared sample.

    Normals point along du x dv, like the machine's, except in patches turned over to agree with their neighbours. With
    ``outward`` each connected part is turned, if needed, so that it encloses a positive volume.
    """
    nets = [patch.patch for patch in patches]
    counts = [patch.samples for patch in patches]
    joints = topology.find_joints(nets)
    orientation = topology.orient(len(patches), joints)
    turned = orientation.turned ^ _inward(patches, orientation) if outward else orientation.turned
    groups = topology.sample_groups(nets, counts, joints)

    points = _stack(patches, "points") + np.float32(0.0)
    degenerate = _stack(patches, "degenerate")
    gap = _largest_gap(points, _stack(patches, "magnitude"), groups)
    owners = np.repeat(np.arange(len(patches)), [k * k for k in counts])
    unusable = degenerate | ~_stack(patches, "inside")
    normals = np.where(unusable[:, None], 0.0, _stack(patches, "normals").astype(np.float64))
    surface = _Vertices(points, normals, degenerate, groups, owners)
    trims = sum(net.trim is not None for net in nets)
    if trims:
        parts = [SampledPart(each.samples, trimmed(each.patch, each.trim_tolerance), each.inside) for each in patches]
        stitched = stitch(parts, [edge.uses for edge in joints.edges], joints.point_edges, weld=weld)
        surface = _with_places(surface, patches, stitched)
        ids = surface.groups if weld else np.arange(len(surface.groups))
        triangles, owner, open_sides = stitched.triangles, stitched.owners, ids[stitched.open_sides]
        triangles = ids[np.where(turned[owner][:, None], triangles[:, ::-1], triangles)]
    else:
        stitched = None
        ids = groups if weld else np.arange(len(groups))
        triangles, owner, open_sides = _triangles(counts, joints, turned, ids, weld=weld)
    points, degenerate, groups = surface.points, surface.degenerate, surface.groups
    normals = surface.normals * np.where(turned, -1.0, 1.0)[surface.owners][:, None]
    keep = topology.distinct(groups[triangles])
    triangles, owner = triangles[keep], owner[keep]

    idle = ~np.isin(ids, triangles) if trims else np.zeros(len(groups), bool)
    normals, repaired, unrepaired = _finish_normals(points, normals, degenerate, groups, triangles, idle, weld=weld)
    report = MeshReport(
        welded=weld,
        shared_edges=joints.shared,
        open_edges=joints.open,
        point_edges=len(joints.point_edges),
        uneven_edges=sum(len({counts[use.patch] for use in edge.uses}) > 1 for edge in joints.edges),
        largest_gap=gap,
        turned_patches=int(turned.sum()),
        refused_joints=orientation.refusals,
        repaired_normals=repaired,
        unrepaired_normals=unrepaired,
        trimmed_patches=trims,
        cut_triangles=0 if stitched is None else stitched.cut_triangles,
        border_points=() if stitched is None else tuple(np.bincount(stitched.patches, minlength=len(patches)).tolist()),
    )
    used = np.unique(triangles) if weld or trims else np.arange(len(points))
    new = np.full(len(points), -1, dtype=np.int64)
    new[used] = np.arange(len(used))
    sides = new[open_sides]
    return Mesh(
        points=points[used],
        normals=normals[used].astype(np.float32),
        triangles=new[triangles].astype(np.int32),
        patches=owner.astype(np.int32),
        open_sides=sides[(sides >= 0).all(axis=1)].astype(np.int32),
        samples=np.where(used < sum(k * k for k in counts), used, -1),
        built=report,
        drawer=drawer,
    )


class _Vertices(NamedTuple):
    """Vertices of all patches, samples first; ``groups`` has the first identical vertex of each, ``owners`` its
    patch.
    """

    points: np.ndarray
    normals: np.ndarray
    degenerate: np.ndarray
    groups: np.ndarray
    owners: np.ndarray


def _with_places(surface: _Vertices, patches: Sequence[PatchSamples], stitched: Stitched) -> _Vertices:
    """Return the vertices with those of trims, which are evaluated in 64 bits and rounded once, as GPs would.

    Identical vertices have the same point, bit for bit. Samples outside that are corners of triangles, because they are
    on a trim, get their normals here too.
    """
    total = len(surface.points)
    patch_of = np.concatenate([surface.owners, stitched.patches])
    starts = np.concatenate(([0], np.cumsum([each.samples**2 for each in patches])))
    points = np.concatenate([surface.points, np.zeros((len(stitched.patches), 3), np.float32)])
    normals = np.concatenate([surface.normals, np.zeros((len(stitched.patches), 3))])
    used = np.unique(stitched.triangles)
    missing = used[(used >= total) | ~(_stack(patches, "inside") | surface.degenerate)[np.minimum(used, total - 1)]]
    for number in np.unique(patch_of[missing]).tolist():
        mine = missing[patch_of[missing] == number]
        own, k = mine - starts[number], patches[number].samples
        at = np.stack([own // k, own % k], axis=1) / (k - 1)
        at[mine >= total] = stitched.parameters[mine[mine >= total] - total]
        exact, normals[mine] = surface_at(patches[number].patch.points, at)
        points[mine[mine >= total]] = exact[mine >= total].astype(np.float32) + np.float32(0.0)
    lost = ~np.isfinite(normals).all(axis=1)
    normals[lost] = 0.0
    points[total:] = points[stitched.like]
    degenerate = np.concatenate([surface.degenerate, np.zeros(len(stitched.patches), bool)]) | lost
    groups = np.concatenate([surface.groups, stitched.like])
    return _Vertices(points, normals, degenerate, groups[groups], patch_of)


def check(mesh: Mesh) -> MeshCheck:
    """Count cracks and wrongly oriented sides of a welded mesh."""
    a = mesh.triangles.astype(np.int64)
    directed = np.concatenate([a[:, [0, 1]], a[:, [1, 2]], a[:, [2, 0]]])
    size = len(mesh.points) + 1
    low, high = np.sort(directed, axis=1).T
    key, inverse, count = np.unique(low * size + high, return_inverse=True, return_counts=True)
    forward = np.bincount(inverse, weights=directed[:, 0] < directed[:, 1])
    sides = np.sort(mesh.open_sides.astype(np.int64), axis=1)
    allowed = np.isin(key, sides[:, 0] * size + sides[:, 1])
    return MeshCheck(
        cracks=int(((count == 1) & ~allowed).sum()),
        inconsistent=int(((count == 2) & (forward != 1)).sum()),
        crowded=int((count > 2).sum()),
    )


def _inward(patches: Sequence[PatchSamples], orientation: topology.Orientation) -> np.ndarray:
    """Return True for the patches of parts whose normals point into the volume that they enclose."""
    volumes, centres = np.zeros(len(patches)), {}
    for part in set(orientation.part.tolist()):
        members = [patches[index] for index in np.flatnonzero(orientation.part == part).tolist()]
        centres[part] = _stack(members, "points").astype(np.float64).mean(axis=0)
    for index, patch in enumerate(patches):
        points = patch.points.reshape(-1, 3).astype(np.float64) - centres[int(orientation.part[index])]
        a, b, c = (points[corner] for corner in topology.grid(np.arange(len(points)), patch.samples).T)
        volume = float((np.cross(a, b) * c).sum()) / 6
        volumes[index] = -volume if orientation.turned[index] else volume
    total = np.bincount(orientation.part, weights=volumes)
    return (total < 0)[orientation.part]


def _stack(patches: Sequence[PatchSamples], name: str) -> np.ndarray:
    arrays = [getattr(patch, name) for patch in patches]
    return np.concatenate([array.reshape(array.shape[0] * array.shape[1], *array.shape[2:]) for array in arrays])


def _triangles(
    counts: list[int], joints: topology.Joints, turned: np.ndarray, ids: np.ndarray, *, weld: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return triangles over all samples, the patch of each, and the vertex pairs along open edges."""
    starts = np.concatenate(([0], np.cumsum([k * k for k in counts])))
    finer = finer_sides(counts, joints, starts) if weld else {}
    triangles, open_sides = [], []
    regular = {k: topology.grid(np.arange(k * k), k) for k in set(counts)}
    for patch, k in enumerate(counts):
        foreign = {side: ids[finer[patch, side]] for side in topology.Side if (patch, side) in finer} if finer else {}
        if foreign:
            corners = topology.ring(ids[starts[patch] + np.arange(k * k)], k, foreign)
        else:
            corners = ids[starts[patch] + regular[k]]
        triangles.append(corners[:, ::-1] if turned[patch] else corners)
    for edge in joints.edges:
        if len(edge.uses) == 1:
            (use,) = edge.uses
            line = starts[use.patch] + use.samples(counts[use.patch])
            open_sides += [line[:-1], line[1:]]
    sides = np.zeros((0, 2), dtype=np.int64)
    if open_sides:
        sides = np.stack([ids[np.concatenate(ends)] for ends in (open_sides[::2], open_sides[1::2])], axis=1)
    return np.concatenate(triangles), np.repeat(np.arange(len(counts)), list(map(len, triangles))), sides


def finer_sides(
    counts: list[int], joints: topology.Joints, starts: np.ndarray
) -> dict[tuple[int, topology.Side], np.ndarray]:
    """Return for each side with a finer neighbour that neighbour's samples, in the direction of the side itself."""
    sides: dict[tuple[int, topology.Side], np.ndarray] = {}
    for edge in joints.edges:
        finest = max(edge.uses, key=lambda use: (counts[use.patch], -use.patch))
        line = starts[finest.patch] + finest.samples(counts[finest.patch])
        for use in edge.uses:
            if counts[use.patch] < counts[finest.patch]:
                sides[use.patch, use.side] = line[::-1] if use.reverse else line
    return sides


def _largest_gap(points: np.ndarray, magnitude: np.ndarray, groups: np.ndarray) -> float:
    """Return the largest coordinate difference between like samples, in units of 2^-24 magnitude."""
    gap = np.abs(points.astype(np.float64) - points[groups])
    unit = UNIT * np.maximum(magnitude, magnitude[groups])
    return float(np.max(np.divide(gap, unit, out=np.zeros_like(gap), where=gap > 0), initial=0.0))


def _finish_normals(
    points: np.ndarray,
    normals: np.ndarray,
    degenerate: np.ndarray,
    groups: np.ndarray,
    triangles: np.ndarray,
    idle: np.ndarray,
    *,
    weld: bool,
) -> tuple[np.ndarray, int, int]:
    """Return unit normals for all samples: the machine's, means over welded ones, face means for degenerate ones.

    Also the numbers of repaired and of irreparable ones, without those of ``idle`` vertices.
    """
    if weld:
        normals = _sum_by(groups, normals, len(points))[groups]
        # Opposite normals of a fold leave nothing to normalise; such a vertex is treated like a degenerate one.
        degenerate = np.linalg.norm(normals, axis=1) < 1e-3
        count = len(set(groups[degenerate & ~idle].tolist()))
    else:
        count = int((degenerate & ~idle).sum())
    corners = points[groups[triangles]].astype(np.float64)
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(faces, axis=1)
    unit = np.divide(faces, area[:, None], out=np.zeros_like(faces), where=area[:, None] > 0)
    around = np.zeros((len(points), 3))
    for corner in range(3):
        np.add.at(around, groups[triangles[:, corner]], unit)
    normals = np.where(degenerate[:, None], around[groups], normals)
    length = np.linalg.norm(normals, axis=1)
    hopeless = length < 1e-9
    normals = np.where(hopeless[:, None], (0.0, 0.0, 1.0), normals / np.where(hopeless, 1.0, length)[:, None])
    counted = hopeless & ~idle
    unrepaired = len(set(groups[counted].tolist())) if weld else int(counted.sum())
    return normals, count - unrepaired, unrepaired


def _sum_by(groups: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    total = np.zeros((size, values.shape[1]))
    np.add.at(total, groups, values)
    return total


# Mesh files: Wavefront OBJ, binary PLY and NPZ. Writers return bytes; the caller puts them somewhere.


def obj(mesh: Mesh) -> bytes:
    """Return a Wavefront OBJ file: v, vn and f lines; decimals read back to the same binary32 numbers."""
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in mesh.points.tolist()]
    lines += [f"vn {x:.9g} {y:.9g} {z:.9g}" for x, y, z in mesh.normals.tolist()]
    lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in (mesh.triangles + 1).tolist()]
    return ("\n".join(lines) + "\n").encode()


def ply(mesh: Mesh) -> bytes:
    """Return a binary little-endian PLY file with x, y, z, nx, ny, nz per vertex."""
    vertices = np.concatenate([mesh.points, mesh.normals], axis=1).astype("<f4")
    faces = np.empty(len(mesh.triangles), dtype=[("count", "u1"), ("vertices", "<i4", 3)])
    faces["count"] = 3
    faces["vertices"] = mesh.triangles
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(mesh.points)}"]
    head += [f"property float {name}" for name in ("x", "y", "z", "nx", "ny", "nz")]
    head += [f"element face {len(mesh.triangles)}", "property list uchar int vertex_indices", "end_header"]
    return ("\n".join(head) + "\n").encode() + vertices.tobytes() + faces.tobytes()


def npz(mesh: Mesh) -> bytes:
    """Return an NPZ archive: points, normals, triangles, and the patch of each triangle."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, points=mesh.points, normals=mesh.normals, triangles=mesh.triangles, patches=mesh.patches
    )
    return buffer.getvalue()


WRITERS: Mapping[str, Callable[[Mesh], bytes]] = {".obj": obj, ".ply": ply, ".npz": npz}
"""File formats by the ending of the file's name."""


def suffix_of(name: str) -> str:
    """Return the ending of an output file's name; raise InputError for an unknown one."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in WRITERS:
        allowed = ", ".join(WRITERS)
        guess = nearest(suffix, WRITERS) if suffix else None
        hint = f"did you mean {guess}? allowed: {allowed}" if guess else f"allowed: {allowed}"
        raise InputError(Fault(f"no mesh format has the ending of the name {name!r}", hint=hint))
    return suffix


def encode(mesh: Mesh, name: str) -> bytes:
    """Return the bytes of a mesh file in the format of the ending of ``name``."""
    return WRITERS[suffix_of(name)](mesh)
