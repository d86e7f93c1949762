"""Results with PE data, checked against independent references: routines bit by bit, and whole passes."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, reduce
from math import comb

import numpy as np

from microcode import assemble
from pixelflow.config import THESIS
from pixelflow.evidence import Check
from pixelflow.isa import MEMORY_BYTES
from pixelflow.node import Node
from pixelflow.simd.lanes import AUTO
from tessellation.host.patch_server import PatchServer
from tessellation.host.session import Session
from tessellation.host.tessellator import Tessellation, tessellate
from tessellation.microprogram.method import CACHING_WAYS, LIBRARIES, FloatLibrary, Method, library_named
from tessellation.microprogram.passes import Plan
from tessellation.plan.mapping import square_lanes
from tessellation.reproduction.bench import ThesisBench, routine_call
from tessellation.reproduction.fixed_model import fixed_samples
from tessellation.surface.bpt import load
from tessellation.surface.patch import Patch
from tessellation.surface.reference import LIMIT, PatchSamples

# A tessellation in binary32 by numpy: the operations of section 4.1.3 in order, each rounded to nearest even.
#
# It shares no code with the machine: Bernstein values are rounded here from exact fractions, and the arithmetic is that
# of the host's processor. So every bit of a pass must be equal, with any library and schedule, unless a routine rounds
# wrongly, a value differs, or the order of operations does.


_TINY = np.finfo(np.float32).tiny


def nearest(exact: Fraction) -> np.float32:
    """Return the binary32 number nearest to a fraction, ties to even."""
    guess = np.float32(float(exact))
    around = (guess, np.nextafter(guess, np.float32(-np.inf)), np.nextafter(guess, np.float32(np.inf)))
    return min(around, key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(np.uint32)) & 1))


@cache
def exact_weights(degree: int, samples: int) -> np.ndarray:
    """Return B_i(t) of that degree at t = 0, 1/(samples-1), .. 1, rounded once: float32[samples, degree + 1]."""
    steps = [Fraction(index, samples - 1) for index in range(samples)]
    return np.array(
        [[nearest(comb(degree, i) * t**i * (1 - t) ** (degree - i)) for i in range(degree + 1)] for t in steps],
        np.float32,
    )


def flushed(values: np.ndarray) -> np.ndarray:
    """Return binary32 numbers with those below the smallest normal one replaced by zeros of their sign."""
    return np.where(np.abs(values) < _TINY, np.copysign(np.float32(0), values), values)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return flushed(a * b)


def _sum(terms: Iterable[np.ndarray]) -> np.ndarray:
    return reduce(lambda total, term: flushed(total + term), terms)


def _surface(net: np.ndarray, in_u: np.ndarray, in_v: np.ndarray) -> np.ndarray:
    """Return the sum over j of B_j(v) * (sum over i of B_i(u) * b_ij): [patch, u, v, axis]."""
    columns = (
        _sum(_product(in_u[None, :, None, i, None], net[:, None, None, i, j]) for i in range(net.shape[1]))
        for j in range(net.shape[2])
    )
    return _sum(_product(in_v[None, None, :, j, None], column) for j, column in enumerate(columns))


def single_samples(nets: np.ndarray, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and normals of control nets [patch, m+1, n+1, 3]: float32[patch, i, j, xyz] each."""
    nets = flushed(nets.astype(np.float32))
    rows, columns = nets.shape[1] - 1, nets.shape[2] - 1
    in_u, in_v = exact_weights(rows, samples), exact_weights(columns, samples)
    with np.errstate(all="ignore"):
        points = _surface(nets, in_u, in_v)
        du = _surface(flushed(nets[:, 1:] - nets[:, :-1]), exact_weights(rows - 1, samples), in_v)
        dv = _surface(flushed(nets[:, :, 1:] - nets[:, :, :-1]), in_u, exact_weights(columns - 1, samples))
        crossed = []
        for axis in range(3):
            after, last = (axis + 1) % 3, (axis + 2) % 3
            one, other = _product(du[..., after], dv[..., last]), _product(du[..., last], dv[..., after])
            crossed.append(flushed(one - other))
        squares = [_product(each, each) for each in crossed]
        length = np.sqrt(flushed(flushed(squares[0] + squares[1]) + squares[2]))
        normals = np.stack([flushed(each / length) for each in crossed], axis=-1)
    return np.broadcast_to(points, normals.shape), normals


def different(found: np.ndarray, expected: np.ndarray) -> int:
    """Return the number of binary32 values whose bits differ; all NaNs are equal."""
    both_nan = np.isnan(found) & np.isnan(expected)
    return int(((found.view(np.uint32) != np.ascontiguousarray(expected).view(np.uint32)) & ~both_nan).sum())


def elevated(net: np.ndarray, count: int) -> np.ndarray:
    """Return the degree-elevated net of the same surface with ``count`` control points a side, in float64."""
    for _ in range(2):
        while net.shape[0] < count:
            share = (np.arange(net.shape[0] + 1) / net.shape[0])[:, None, None]
            nothing = np.zeros((1, *net.shape[1:]))
            net = share * np.concatenate([nothing, net]) + (1 - share) * np.concatenate([net, nothing])
        net = net.swapaxes(0, 1)
    return net


# Results of the float routines, bit by bit: binary32 compared with numpy, longer mantissas with exact fractions.


_OPERATIONS: dict[str, tuple[int, Callable[..., np.ndarray]]] = {
    "fadd": (2, np.add),
    "fsub": (2, np.subtract),
    "fmul": (2, np.multiply),
    "fdiv": (2, np.divide),
    "fsqrt": (1, np.sqrt),
}
_LANES = THESIS.lanes
_WIDE = 2048
"""Pairs of longer numbers, fewer because fractions are slow."""
_AWAKE = np.arange(_LANES) % 16 != 15
"""PEs enabled by the caller of a routine; all others must keep their memory, scratch included."""
_NUMPY = "numpy, binary32, nearest even"
_SMALLEST = 2.0**-126


def _operands(seed: int, *, finite: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of binary32 numbers: random, with close exponents, few bits, special values, and product ties."""
    source = np.random.default_rng(seed)
    a, b = (source.integers(0, 1 << 32, _LANES, dtype=np.uint32) for _ in range(2))
    near = (a >> 23 & 255).astype(np.int64) + source.integers(-26, 27, _LANES)
    b = np.where(source.random(_LANES) < 0.4, b & 0x807FFFFF | np.clip(near, 1, 254).astype(np.uint32) << 23, b)
    for values in (a, b):
        values[:] = np.where(source.random(_LANES) < 0.2, values & 0xFFF80000, values)
        corners = np.array([0, 1 << 31, 0x3F800000, 0x3F7FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000])
        values[:] = np.where(source.random(_LANES) < 0.05, source.choice(corners, _LANES), values)
    # A product of 12 and 13 bits, both odd, is half way between two numbers of 24.
    ties = _LANES // 8
    for values, bits in ((a, 11), (b, 12)):
        odd = source.integers(1 << bits, 2 << bits, ties) | 1
        values[:ties] = odd.astype(np.float32).view(np.uint32)
    if finite:
        a, b = (np.where(values >> 23 & 255 == 255, values & 0xBFFFFFFF, values) for values in (a, b))
        b = np.where(b >> 23 & 255 == 0, np.uint32(0x3F800000), b)
    return a.view(np.float32), b.view(np.float32)


def _expected(operation: Callable[..., np.ndarray], *operands: np.ndarray) -> np.ndarray:
    """Return the results of the library's contract: below 2^-126 before rounding, a zero of the same sign."""
    used = [flushed(each) for each in operands]
    with np.errstate(all="ignore"):
        found = operation(*used)
        exact = operation(*(each.astype(np.float64) for each in used))
    return np.where(np.abs(exact) < _SMALLEST, np.copysign(np.float32(0), found), found)


_UNDER_AWAKE = "range awake[1]\nLD R, awake[0]\nCMP R, #1\nEC\n"


def _run(floats: FloatLibrary, name: str, operands: list[np.ndarray], size: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Run a routine in the PEs of `_AWAKE` on columns of bytes, [byte, lane], low byte first.

    Returns the columns of the result, and for each lane whether its memory has changed.
    """
    program = assemble(routine_call(floats, name, len(operands), size, _UNDER_AWAKE))
    node = Node(THESIS)
    node.write_memory(program.range("awake").start, _AWAKE.astype(np.uint8)[None])
    for where, given in zip("ab", operands, strict=False):
        lanes = np.zeros((size + 1, _LANES), np.uint8)
        lanes[:, : given.shape[1]] = given
        node.write_memory(program.range(where).start, lanes)
    before = node.read_memory(0, MEMORY_BYTES)
    node.run(program)
    changed = (node.read_memory(0, MEMORY_BYTES) != before).any(axis=0)
    return node.read_memory(program.range("d").start, size + 1), changed


def _wrong(found: np.ndarray, changed: np.ndarray, expected: np.ndarray) -> int:
    """Return the number of wrong results in enabled PEs and of changed disabled PEs."""
    return different(_values(found)[_AWAKE], expected[_AWAKE]) + int(changed[~_AWAKE].sum())


def _columns(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values.view(np.uint8).reshape(_LANES, -1).T)


def _values(columns: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(columns.T).view("<f4").ravel()


def single_operations(bench: ThesisBench) -> list[Check]:
    """Table 1: every operation of every library on 8,192 pairs of operands, one in sixteen in a PE that is disabled."""
    checks = []
    for floats in LIBRARIES.values():
        for seed, (name, (count, operation)) in enumerate(_OPERATIONS.items(), start=1):
            operands = _operands(seed, finite=bool(floats.ending))[:count]
            bench.progress(f"results of {name}, library {floats.name}")
            found = _run(floats, name, [_columns(each) for each in operands])
            wrong = _wrong(*found, _expected(operation, *operands))
            checks.append(Check(f"{name}, library {floats.name}", wrong, 0, f"wrong of {_LANES:,}", _NUMPY))
        if not floats.ending:
            integers = np.random.default_rng(9).integers(-(1 << 31), 1 << 31, _LANES) >> np.arange(_LANES) % 32
            wrong = _wrong(*_run(floats, "i2f", [_columns(integers.astype("<i4"))]), integers.astype(np.float32))
            checks.append(Check(f"i2f, library {floats.name}", wrong, 0, f"wrong of {_LANES:,}", _NUMPY))
    return checks


def wide_operations(bench: ThesisBench) -> list[Check]:
    """Table 13: products, sums and differences of numbers between 0 and 1 with 4 to 6 bytes of mantissa."""
    checks, floats = [], library_named("plain")
    for size in (4, 5, 6):
        source = np.random.default_rng(size)
        below = [int(each) for each in source.integers(1, 1 << 62, 2 * _WIDE)]
        # Mantissas of full length, shifted down by various amounts.
        numbers = [Fraction(value >> 62 - 8 * size + index % 9, 1 << 8 * size) for index, value in enumerate(below)]
        firsts, seconds = numbers[:_WIDE], numbers[_WIDE:]
        for what, name in (("products", "fmul"), ("sums", "fadd"), ("differences", "fadd")):
            pairs = [_pair(what, *pair) for pair in zip(firsts, seconds, strict=True)]
            operands = [_wide_columns([_bits(pair[index], size) for pair in pairs], size) for index in range(2)]
            bench.progress(f"results of {name}{size}")
            found, changed = _run(floats, f"{name}{size}", operands, size)
            expected = [a * b if what == "products" else a + b for a, b in pairs]
            right = _wide_columns([_bits(value, size) for value in expected], size)
            wrong = int(np.where(_AWAKE[:_WIDE], (found[:, :_WIDE] != right).any(axis=0), changed[:_WIDE]).sum())
            checks.append(Check(f"{what}, {size} bytes", wrong, 0, f"wrong of {_WIDE:,}", "exact fractions"))
    return checks


def _pair(what: str, a: Fraction, b: Fraction) -> tuple[Fraction, Fraction]:
    if what == "products":
        return a, b
    return (a / 2, b / 2) if what == "sums" else (max(a, b), -min(a, b))


def _bits(value: Fraction, size: int) -> int:
    """Return the pattern nearest to a fraction between -1 and 1, ties to even; none here is below 2^-126."""
    if not value:
        return 0
    stored, numerator, denominator = 8 * size - 1, abs(value.numerator), value.denominator
    exponent = denominator.bit_length() - numerator.bit_length()
    exponent += numerator << exponent < denominator  # the least with 2^exponent times the fraction at least 1
    kept, rest = divmod(numerator << exponent + stored, denominator)
    kept += 2 * rest + (kept & 1) > denominator
    return ((value < 0) << stored + 8) | ((127 - exponent << stored) + kept - (1 << stored))


def _wide_columns(patterns: list[int], size: int) -> np.ndarray:
    wide = np.array(patterns, np.uint64)
    return np.ascontiguousarray(wide.view(np.uint8).reshape(-1, 8)[:, : size + 1].T)


# Results of passes with PE data: bits compared with binary32 by numpy, errors with the reference in float64.
#
# Nets larger than bicubic are those of the teapot with degrees elevated, so that all describe the same surface.


_NETS = range(4, 13)
_LOADED = range(4, 9)
"""The nets of table 4."""
_IN_ORDER = "numpy, binary32, same order"
_FLOAT64 = "float64 reference"
_SCHEDULES = (
    ("thesis", "tuned"),
    ("thesis", "tuned-finite"),
    ("thesis", "generic"),
    ("shared-columns", "tuned-finite"),
)
_MIXED = (16, 8, 4, 4)
"""Sample counts of a pass's patches, in rotation."""
_FULL = (4,) * THESIS.array.blocks
"""Sample counts of the patches that fill the array."""


@dataclass(slots=True)
class _Values:
    """Counts Bernstein values in PE memory that differ from the rounded exact ones; called after each pass."""

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


@cache
def _patches(n: int) -> tuple[Patch, ...]:
    """Return the teapot's patches, as nets of n x n points."""
    teapot = load("teapot").patches
    return teapot if n == 4 else tuple(Patch(elevated(patch.points.astype(np.float64), n)) for patch in teapot)


def _wrong_numbers(samples: Sequence[PatchSamples], *, finite: bool) -> int:
    """Return the number of values of points and normals that differ from binary32 in the same order.

    A ``finite`` library promises nothing for operands that are not finite, nor for 0 / 0.
    """
    groups: dict[tuple[int, tuple[int, int]], dict[int, Patch]] = defaultdict(dict)
    for each in samples:
        groups[each.samples, each.patch.counts][id(each.patch)] = each.patch
    expected: dict[tuple[int, int], list[np.ndarray]] = {}
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
    """Return the beginning of a SHA-256 of all bits, with all NaNs equal."""
    sha = hashlib.sha256()
    for each in samples:
        for values in (each.points, each.normals):
            sha.update(np.where(np.isnan(values), np.float32(np.nan), values).astype("<f4").tobytes())
    return sha.hexdigest()[:16]


def _same_bits(item: str, samples: Sequence[PatchSamples], asked: Sequence[int], *, finite: bool = False) -> Check:
    """Compare bits; ``asked`` are the samples along a side of each patch, and missing numbers are wrong."""
    count = sum(2 * 3 * k * k for k in asked)
    missing = abs(count - sum(each.points.size + each.normals.size for each in samples))
    wrong = _wrong_numbers(samples, finite=finite) + missing
    return Check(item, wrong, 0, f"wrong of {count:,}", _IN_ORDER, _digest(samples))


def _errors(item: str, found: Tessellation) -> list[Check]:
    point, normal = found.worst_point_error, found.worst_normal_error
    return [
        Check(f"{item}: point", round(point, 4), LIMIT, "2^-24 magnitude", _FLOAT64),
        Check(f"{item}: normal", round(normal, 4), LIMIT, "2^-24 condition", _FLOAT64),
    ]


def _mixed() -> list[int]:
    """Return the samples along a side of each patch of the teapot, in passes of several sizes."""
    return [_MIXED[index % len(_MIXED)] for index in range(len(_patches(4)))]


def _net(bench: ThesisBench, n: int) -> tuple[Check, list[Check], _Values]:
    """Tessellate the teapot as n x n nets with 16, 8 and 4 samples a side, on the library of the reproduction.

    Returns the check of the bits, those of the errors, and the Bernstein values that were seen.
    """

    def run() -> tuple[Check, list[Check], _Values]:
        values, item = _Values(), f"{n}x{n} net"
        found = tessellate(_patches(n), _mixed(), library="plain", after=values)
        return _same_bits(item, found.patches, _mixed()), _errors(item, found), values

    return bench.once(("results", n), run, f"results of {n}x{n} nets")


def _full(bench: ThesisBench, library: str, method: Method | None = None, engine: str = AUTO) -> Tessellation:
    """Tessellate 512 patches of the teapot at 4x4 samples."""
    bench.progress(f"results of 512 patches, library {library}, {engine}")
    patches = _patches(4) * (len(_FULL) // len(_patches(4)))
    return tessellate(patches, _FULL[0], library=library, engine=engine, method=method)


def _usual(bench: ThesisBench) -> tuple[Check, str]:
    """Return the check of the bits of the usual method by the fastest engine available, and the name of the engine."""

    def run() -> tuple[Check, str]:
        found = _full(bench, "plain", engine=AUTO)
        return _same_bits("usual", found.patches, _FULL), found.engine

    return bench.once(("results", "usual"), run)


def mixed_sizes(bench: ThesisBench) -> list[Check]:
    """Table 3: every patch has the samples of its net, whatever sizes share a pass."""
    return [_net(bench, 4)[0]._replace(item="patches of 16x16, 8x8 and 4x4 samples")]


def bernstein_values(bench: ThesisBench) -> list[Check]:
    """Table 4: the Bernstein values in the memory of every PE."""
    checks = []
    for n in _LOADED:
        values = _net(bench, n)[2]
        # In each direction n values for points and n - 1 for differences, in every PE that has a sample.
        count = 2 * (2 * n - 1) * sum(k * k for k in _mixed())
        wrong = values.wrong + abs(count - values.seen) + len(values.sizes ^ set(_MIXED))
        checks.append(Check(f"{n}x{n} net", wrong, 0, f"wrong of {count:,}", "exact fractions, rounded"))
    return checks


def sends(bench: ThesisBench) -> list[Check]:
    """Table 6: the same bits with any number of sends."""
    usual, counts = Method().sends, (16, 8, 4, 2, 1)
    return [
        _usual(bench)[0]._replace(item=f"{count} sends")
        if count == usual
        else _same_bits(f"{count} sends", _full(bench, "plain", Method(sends=count)).patches, _FULL)
        for count in counts
    ]


def wrong_by_net(bench: ThesisBench) -> list[Check]:
    """Table 7: the bits of all arithmetic."""
    return [_net(bench, n)[0] for n in _NETS]


def errors_by_net(bench: ThesisBench) -> list[Check]:
    """Table 12: errors of points and normals against the surface."""
    return [check for n in _NETS for check in _net(bench, n)[1]]


def schedules(bench: ThesisBench) -> list[Check]:
    """The same bits by both schedules and all libraries."""
    checks = []
    for schedule, library in _SCHEDULES:
        found = _full(bench, library, Method(schedule=schedule)).patches
        finite = bool(library_named(library).ending)
        checks.append(_same_bits(f"{schedule} schedule, library {library}", found, _FULL, finite=finite))
    return [*checks, _fixed_sums(bench)]


def _fixed_sums(bench: ThesisBench) -> Check:
    """Compare the bits of sums in fixed point with Python integers, for the teapot and nets with sums that are ties."""
    bench.progress("results of sums in fixed point")
    few, tied = _patches(4), tied_patches()
    done = tessellate([*few, *tied], [4] * len(few) + [_TIES] * len(tied), method=_FIXED)
    wrong, count = 0, 6 * sum(each.samples**2 for each in done.patches)
    for each in done.patches:
        points, normals = fixed_samples(each.patch.points32, each.samples)
        wrong += different(each.points, points) + different(each.normals, normals)
    return Check("fixed-sums schedule", wrong, 0, f"wrong of {count:,}", "Python integers", _digest(done.patches))


_TIES = 3
"""Samples a side at which points are exact before they are rounded, as s^6 is a power of two."""
_FIXED = Method(schedule="fixed-sums")


def tied_patches() -> list[Patch]:
    """Return nets many of whose coordinates at 3x3 samples are half way between two binary32 numbers.

    In the middle of an edge they are the mean of its ends, whole numbers of 24 bits, and every second sum is odd.
    """
    source = np.random.default_rng(3)
    corners = source.integers(1 << 23, 1 << 24, (16, 2, 2, 3)) * source.choice((-1, 1), (16, 1, 1, 3))
    return [Patch(each.repeat(2, axis=0).repeat(2, axis=1).astype(np.float32)) for each in corners]


def errors_of_models(bench: ThesisBench) -> list[Check]:
    """Section 5: teapot and Enneper's surface at 16x16 samples."""
    checks = []
    for name in ("teapot", "enneper"):
        patches = load(name).patches
        bench.progress(f"results of {name}")
        found = tessellate(patches, 16, library="plain")
        checks += [
            *_errors(f"{name}, 16x16 samples", found),
            _same_bits(f"{name}, bits", found.patches, [16] * len(patches)),
        ]
    return checks


def engines(bench: ThesisBench) -> list[Check]:
    """Section 5: the same bits by the reference, by numpy alone, and by the fastest engine available."""
    reference, rows = (_full(bench, "plain", engine=engine) for engine in ("bit-serial", "rows"))
    usual, fastest = _usual(bench)
    checks, right, compared = [], _digest(reference.patches), {reference.engine}
    for engine, digest in ((rows.engine, _digest(rows.patches)), (fastest, usual.digest)):
        if engine in compared:
            bench.progress(f"no faster engine works here than {engine}, which was compared")
            continue
        compared.add(engine)
        unlike = f"digests unlike that of {reference.engine}"
        checks.append(Check(f"engine {engine}", int(digest != right), 0, unlike, reference.engine, digest))
    return checks


def to_gps(bench: ThesisBench) -> list[Check]:
    """Section 4.1.4: the database comes from the memory of a GP, and points and normals go there."""
    method = Method(load="gp", results="gp")
    return [_same_bits("from GP memory and back to it", _full(bench, "plain", method).patches, _FULL)]


def caching(bench: ThesisBench) -> list[Check]:
    """Appendix B: results recalled from texture memory, of one pass and of two with separate places."""
    checks = [
        _same_bits(f"kept and brought back, {way}", _full(bench, "plain", Method(cache=way)).patches, _FULL)
        for way in CACHING_WAYS
    ]
    bench.progress("results of two passes, kept")
    # The teapot takes all PEs, so that Enneper's surface is the second pass.
    several = [*_patches(4), *load("enneper").patches]
    found = tessellate(several, 16, library="plain", method=Method(cache=CACHING_WAYS[0]))
    return [*checks, _same_bits("kept and brought back, two passes", found.patches, [16] * len(several))]


def to_nodes(bench: ThesisBench) -> list[Check]:
    """Section 3.8: points and normals in the memories of four other nodes."""
    bench.progress("results to four nodes")
    asked = [4] * len(_patches(4))
    server = PatchServer({3: 32}, config=THESIS, library="plain")
    for patch, samples in zip(_patches(4), asked, strict=True):
        server.add(patch).mark(samples)
    server.tessellate()
    found = [handle.result for handle in server.handles if handle.result is not None]
    return [_same_bits("in the memories of four nodes", found, asked)]
