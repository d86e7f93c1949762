"""Results of passes with PE data: bits against binary32 by numpy, errors against the reference in float64.

Nets larger than bicubic are those of the teapot with their degrees raised, so that all describe the same surface.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pixelflow.config import THESIS
from pixelflow.evidence import Check
from pixelflow.simd.lanes import AUTO
from tessellation.host.server import PatchServer
from tessellation.host.session import Session
from tessellation.host.tessellator import Tessellation, tessellate
from tessellation.microprogram.libraries import library_named
from tessellation.microprogram.passes import CACHING_WAYS, Method, Plan
from tessellation.plan.mapping import square_lanes
from tessellation.reproduction.bench import ThesisBench
from tessellation.reproduction.results.single import different, elevated, exact_weights, single_samples
from tessellation.surface.bpt import load
from tessellation.surface.patch import Patch
from tessellation.surface.reference import LIMIT
from tessellation.surface.samples import PatchSamples

__all__ = [
    "bernstein_values",
    "caching",
    "engines",
    "errors_by_net",
    "errors_of_models",
    "mixed_sizes",
    "schedules",
    "sends",
    "to_gps",
    "to_nodes",
    "wrong_by_net",
]

_NETS = range(4, 13)
_LOADED = range(4, 9)
"""The nets of table 4."""
_NUMPY = "numpy, binary32, same order"
_FLOAT64 = "float64 reference"
_SCHEDULES = (
    ("thesis", "tuned"),
    ("thesis", "tuned-finite"),
    ("thesis", "generic"),
    ("shared-columns", "tuned-finite"),
)
_MIXED = (16, 8, 4, 4)
"""Sample counts that patches of a pass have in turn."""
_FULL = (4,) * THESIS.array.blocks
"""Sample counts of the patches that fill the array."""


@dataclass(slots=True)
class _Values:
    """Counts Bernstein values in PE memory that are not the exact ones rounded; called after each pass."""

    wrong: int = 0
    seen: int = 0
    sizes: set[int] = field(default_factory=set)

    def __call__(self, session: Session, plan: Plan) -> None:
        memory, work = plan.memory, plan.work
        for k in work.sizes:
            lanes = square_lanes([each for each in work.placements if each.samples == k], k, session.config.array)
            for name, count, axis in (("bernstein_u", memory.rows, 1), ("bernstein_v", memory.columns, 2)):
                for ending, degree in (("", count - 1), ("_difference", count - 2)):
                    weights = exact_weights(degree, k)
                    for index in range(degree + 1):
                        there = session.node.read_float(memory[f"{name}{ending}"].start + 4 * index)[lanes]
                        shape = [1, 1, 1]
                        shape[axis] = k
                        expected = np.broadcast_to(weights[:, index].reshape(shape), there.shape)
                        self.wrong += different(np.ascontiguousarray(there), expected)
                        self.seen += there.size
            self.sizes.add(k)


def _patches(n: int) -> list[Patch]:
    """Return the teapot's patches, as nets of n x n points."""
    teapot = load("teapot").patches
    return list(teapot) if n == 4 else [Patch(elevated(patch.points.astype(np.float64), n)) for patch in teapot]


def _wrong(samples: Sequence[PatchSamples], *, finite: bool) -> int:
    """Return how many numbers of points and normals are not those of binary32 in the same order.

    A ``finite`` library promises nothing where the operands are no finite numbers, nor for 0 / 0.
    """
    groups: dict[tuple[int, tuple[int, int]], dict[int, Patch]] = defaultdict(dict)
    for each in samples:
        groups[each.samples, each.patch.counts][id(each.patch)] = each.patch
    expected = {}
    for (k, _), patches in groups.items():
        points, normals = single_samples(np.stack([patch.points for patch in patches.values()]), k)
        expected |= {(k, number): pair for number, *pair in zip(patches, points, normals, strict=True)}
    wrong = 0
    for each in samples:
        points, normals = expected[each.samples, id(each.patch)]
        found = np.where(np.isnan(normals), np.float32(np.nan), each.normals) if finite else each.normals
        wrong += different(each.points, points) + different(found, normals)
    return wrong


def _digest(samples: Sequence[PatchSamples]) -> str:
    """Return the beginning of a SHA-256 of all bits, NaNs all alike."""
    sha = hashlib.sha256()
    for each in samples:
        for values in (each.points, each.normals):
            sha.update(np.where(np.isnan(values), np.float32(np.nan), values).astype("<f4").tobytes())
    return sha.hexdigest()[:16]


def _bits(item: str, samples: Sequence[PatchSamples], asked: Sequence[int], *, finite: bool = False) -> Check:
    """Compare bits; ``asked`` has the samples along a side of each patch, and numbers that are not there are wrong."""
    count = sum(2 * 3 * k * k for k in asked)
    missing = abs(count - sum(each.points.size + each.normals.size for each in samples))
    wrong = _wrong(samples, finite=finite) + missing
    return Check(item, wrong, 0, f"wrong of {count:,}", _NUMPY, _digest(samples))


def _errors(item: str, found: Tessellation) -> list[Check]:
    point, normal = found.worst_point_error, found.worst_normal_error
    return [
        Check(f"{item}: point", round(point, 4), LIMIT, "2^-24 magnitude", _FLOAT64),
        Check(f"{item}: normal", round(normal, 4), LIMIT, "2^-24 condition", _FLOAT64),
    ]


def _mixed() -> list[int]:
    """Return the samples along a side of each patch of the teapot, in passes of several sizes."""
    return [_MIXED[index % len(_MIXED)] for index in range(len(_patches(4)))]


def _net(bench: ThesisBench, n: int) -> tuple[Tessellation, _Values]:
    """Tessellate the teapot as n x n nets with 16, 8 and 4 samples a side, on the library of the reproduction."""

    def run() -> tuple[Tessellation, _Values]:
        values, patches = _Values(), _patches(n)
        return tessellate(patches, _mixed(), library="plain", after=values), values

    return bench.once(("results", n), run, f"results of {n}x{n} nets")


def _full(bench: ThesisBench, library: str, method: Method | None = None, engine: str = AUTO) -> Tessellation:
    """Tessellate 512 patches of the teapot at 4x4 samples."""
    text = f"results of 512 patches, library {library}, {engine}"

    def run() -> Tessellation:
        return tessellate(
            _patches(4) * (len(_FULL) // len(_patches(4))), _FULL[0], library=library, engine=engine, method=method
        )

    return bench.once(("results", library, method, engine), run, text)


def mixed_sizes(bench: ThesisBench) -> list[Check]:
    """Table 3: every patch gets the samples of its own net, whatever sizes share a pass."""
    return [_bits("patches of 16x16, 8x8 and 4x4 samples", _net(bench, 4)[0].patches, _mixed())]


def bernstein_values(bench: ThesisBench) -> list[Check]:
    """Table 4: the Bernstein values in the memory of every PE."""
    checks = []
    for n in _LOADED:
        values = _net(bench, n)[1]
        # In each direction n values for points and n - 1 for differences, in every PE that has a sample.
        count = 2 * (2 * n - 1) * sum(k * k for k in _mixed())
        wrong = values.wrong + abs(count - values.seen) + len(values.sizes ^ set(_MIXED))
        checks.append(Check(f"{n}x{n} net", wrong, 0, f"wrong of {count:,}", "exact fractions, rounded"))
    return checks


def sends(bench: ThesisBench) -> list[Check]:
    """Table 6: the same bits by any number of sends."""
    counts = (16, 8, 4, 2, 1)
    return [_bits(f"{count} sends", _full(bench, "plain", Method(sends=count)).patches, _FULL) for count in counts]


def wrong_by_net(bench: ThesisBench) -> list[Check]:
    """Table 7: the bits of all arithmetic."""
    return [_bits(f"{n}x{n} net", _net(bench, n)[0].patches, _mixed()) for n in _NETS]


def errors_by_net(bench: ThesisBench) -> list[Check]:
    """Table 12: how far points and normals are from the surface."""
    return [check for n in _NETS for check in _errors(f"{n}x{n} net", _net(bench, n)[0])]


def schedules(bench: ThesisBench) -> list[Check]:
    """The same bits by both schedules and all libraries."""
    checks = []
    for schedule, library in _SCHEDULES:
        found = _full(bench, library, Method(schedule=schedule)).patches
        finite = bool(library_named(library).ending)
        checks.append(_bits(f"{schedule} schedule, library {library}", found, _FULL, finite=finite))
    return checks


def errors_of_models(bench: ThesisBench) -> list[Check]:
    """Section 5: teapot and Enneper's surface at 16x16 samples."""
    checks = []
    for name in ("teapot", "enneper"):
        patches = load(name).patches

        def run(patches: Sequence[Patch] = patches) -> Tessellation:
            return tessellate(patches, 16, library="plain")

        found = bench.once(("results", name), run, f"results of {name}")
        checks += [
            *_errors(f"{name}, 16x16 samples", found),
            _bits(f"{name}, bits", found.patches, [16] * len(patches)),
        ]
    return checks


def engines(bench: ThesisBench) -> list[Check]:
    """Section 5: the same bits by the reference, by numpy alone, and by the fastest engine that works here."""
    reference = _full(bench, "plain", engine="bit-serial")
    checks, right, compared = [], _digest(reference.patches), {reference.engine}
    for engine in ("rows", AUTO):
        found = _full(bench, "plain", engine=engine)
        if found.engine in compared:
            bench.progress(f"no faster engine works here than {found.engine}, which was compared")
            continue
        compared.add(found.engine)
        digest = _digest(found.patches)
        unlike = f"digests unlike that of {reference.engine}"
        checks.append(Check(f"engine {found.engine}", int(digest != right), 0, unlike, reference.engine, digest))
    return checks


def to_gps(bench: ThesisBench) -> list[Check]:
    """Section 4.1.4: the database comes from the memory of a GP, and points and normals go there."""
    method = Method(load="gp", results="gp")
    return [_bits("from GP memory and back to it", _full(bench, "plain", method).patches, _FULL)]


def caching(bench: ThesisBench) -> list[Check]:
    """Appendix B: what comes back from texture memory, of one pass and of two, each of which has a place of its own."""
    checks = [
        _bits(f"kept and brought back, {way}", _full(bench, "plain", Method(cache=way)).patches, _FULL)
        for way in CACHING_WAYS
    ]

    def run() -> Tessellation:
        # The teapot takes all PEs, so that Enneper's surface is the second pass.
        return tessellate(several, 16, library="plain", method=Method(cache=CACHING_WAYS[0]))

    several = [*_patches(4), *load("enneper").patches]
    found = bench.once("results of two passes that are kept", run, "results of two passes, kept")
    return [*checks, _bits("kept and brought back, two passes", found.patches, [16] * len(several))]


def to_nodes(bench: ThesisBench) -> list[Check]:
    """Section 3.8: points and normals in the memories of four other nodes."""
    asked = [4] * len(_patches(4))

    def run() -> list[PatchSamples]:
        server = PatchServer({3: 32}, config=THESIS, library="plain")
        for patch, samples in zip(_patches(4), asked, strict=True):
            server.add(patch).mark(samples)
        server.tessellate()
        return [handle.result for handle in server.handles if handle.result is not None]

    return [
        _bits("in the memories of four nodes", bench.once("results of a server", run, "results to four nodes"), asked)
    ]
