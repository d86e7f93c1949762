"""Measures for claims about cores and vector units: kernels that are executed, parameters, arithmetic."""

from __future__ import annotations

import numpy as np

from larrabee_bridge.claims.bench import Printed, SceneBench
from larrabee_bridge.claims.measures.meshes import equilateral
from larrabee_bridge.kernels import THREADS, densities, filter_bilinear, loads, multiply, products, time_rays
from larrabee_bridge.kernels.compressed import filter_compressed
from larrabee_bridge.kernels.filtering import aligned_coordinates, scattered_coordinates
from larrabee_bridge.kernels.matrices import Matrix, banded, five_point, lines_of_uniform, uniform
from larrabee_bridge.kernels.timing import Timed, timed
from larrabee_bridge.pipeline.backend import TextureConfig
from larrabee_bridge.pipeline.coverage.quads import QUAD, quads_of
from larrabee_bridge.vpu.core import CoreConfig
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.isa.operands import Conversion
from larrabee_bridge.vpu.unit.program import LINE_BYTES, assemble_vector
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.evidence import Measured

__all__ = ["crossing"]

_KB = 1024
_AREAS = (20, 80, 320, 1280, 5120, 10240)
_RATES = (1, TextureConfig().pixels_per_cycle, 16)
"""Samples of a texture unit in a clock: as the model has it, and the ends of what it allows."""
_DENSITIES = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1)


_FLOPS = {VectorFamily.FUSED: 2, VectorFamily.FLOAT: 1}
"""Floating-point operations of a lane: a fused multiply-add is a product and a sum."""


def _flops_per_cycle() -> float:
    """Execute fused multiply-adds that do not wait for each other; return flops of each cycle.

    What was executed is told by its declared family.
    """
    count = 28
    text = "\n".join(f"vmadd231ps v{number}, v30, v31" for number in range(count)) + "\n"
    run = timed(VectorUnit(assemble_vector(text * 4)))
    return LANES * sum(_FLOPS.get(family, 0) * executed for family, executed in run.counts.items()) / run.core


def peak_of_two_designs(bench: SceneBench, printed: Printed) -> Measured:
    """Multiply cores by widths; flops of an operation follow from the family of what is executed at full rate."""
    ours = printed["in_order_cores"] * LANES
    theirs = printed["out_of_order_cores"] * printed["out_of_order_width"]
    flops = _flops_per_cycle() / LANES
    ratio = ours / theirs
    figures = {
        "out_of_order_operations": theirs,
        "in_order_operations": ours,
        "ratio": ratio,
        "flops_ratio": ratio * flops,
    }
    text = f"{theirs:.0f} and {ours:.0f} operations, {ratio:.0f}x; {flops:.0f} flops each: {ratio * flops:.0f}x"
    return Measured(text, figures)


def sizes_of_caches(bench: SceneBench, printed: Printed) -> Measured:
    """Read the core model."""
    config = CoreConfig()
    l1, l2, code = config.l1_bytes // _KB, config.l2_bytes // _KB, config.code_bytes // _KB
    text = f"{code} KB for instructions, {l1} KB for data, {l2} KB of L2, {THREADS} threads"
    return Measured(text, {"l1_code_kb": code, "l1_data_kb": l1, "l2_kb": l2, "threads": THREADS})


def utilisation_by_area(bench: SceneBench, printed: Printed) -> Measured:
    """Count covered lanes of 4x4 blocks, and of vectors that take any four 2x2 blocks of a triangle."""
    blocks, free = [], []
    for area in _AREAS:
        triangles = equilateral(area, 48)
        size = int(triangles.corners.max() // 256 + 1)
        quads = quads_of(triangles, size, size)
        covered = int(np.bitwise_count(quads.masks).sum())
        fours = _fours(quads.masks[:, 0])
        vectors = -(-np.bincount(quads.triangle, fours).astype(np.int64) // 4)
        blocks.append(quads.utilisation)
        free.append(covered / (LANES * vectors.sum()))
    wanted = printed["utilisation"]
    at, at_free = crossing(_AREAS, blocks, wanted), crossing(_AREAS, free, wanted)
    text = f"{wanted:.0%} from {_about(at)} pixels on as 4x4 blocks, from {_about(at_free)} as any four 2x2"
    text += f"; at 80 pixels {blocks[1]:.2f} and {free[1]:.2f}"
    figures = {f"blocks_{area}": round(share, 4) for area, share in zip(_AREAS, blocks, strict=True)}
    figures |= {f"free_{area}": round(share, 4) for area, share in zip(_AREAS, free, strict=True)}
    shares = {name.replace("_", " of "): share for name, share in figures.items()}
    return Measured(text, figures | {"area": at, "area_free": at_free}, {"utilisation": shares})


def _fours(masks: np.ndarray) -> np.ndarray:
    """Return how many 2x2 blocks of each 4x4 mask have a covered pixel."""
    corner = 1 | 1 << 1 | 1 << QUAD | 1 << QUAD + 1
    places = (0, 2, 2 * QUAD, 2 * QUAD + 2)
    return sum(((masks & (corner << place)) != 0).astype(np.int64) for place in places)


def _about(value: float | None) -> str:
    return "no area that was looked at" if value is None else f"about {float(f'{value:.2g}'):,.0f}"


def crossing(x: tuple[float, ...], y: list[float], level: float) -> float | None:
    """Return where y first reaches a level, between two x linearly in their logarithms; None where it does not.

    ``y`` may rise or fall towards the level.
    """
    above = [value >= level for value in y]
    for number in range(1, len(x)):
        if above[number] != above[number - 1]:
            part = (level - y[number - 1]) / (y[number] - y[number - 1])
            return float(np.exp(np.log(x[number - 1]) + part * (np.log(x[number]) - np.log(x[number - 1]))))
    return None


def conversions(bench: SceneBench, printed: Printed) -> Measured:
    """Time the same additions with every kind of memory operand."""
    runs = list(loads(bytes(range(0, 2 * LINE_BYTES, 2))))
    plain = next(each.cycles for each in runs if each.conversion is Conversion.NONE)
    formats = {each.conversion for each in runs} - {Conversion.NONE}
    more = max(each.cycles for each in runs) - plain
    text = f"{more} cycles more in {len(formats)} formats, replicated or not ({plain} each)"
    return Measured(text, {"more_cycles": more, "formats": len(formats), "cycles": plain})


def _matrices() -> dict[str, Matrix]:
    return {"stencil": five_point(32, 16), "band": banded(128, 50, LANES), "uniform": uniform(128, 1024, LANES)}


def _products(bench: SceneBench) -> dict[str, dict[str, Timed]]:
    """Return the runs of all matrices: rows at once with gather and without, and entries row by row."""

    def compute() -> dict[str, dict[str, Timed]]:
        found = {}
        for name, matrix in _matrices().items():
            x = np.random.default_rng(2).normal(size=matrix.columns).astype(np.float32)
            found[name] = {
                "gather": multiply(matrix, x).timing,
                "scalars": multiply(matrix, x, hardware=False).timing,
                "entries": products(matrix, x).timing,
            }
        return found

    return bench.once("products", compute)


def lines_of_gathers(bench: SceneBench, printed: Printed) -> Measured:
    """Count the lines that gathers touch, beside what equally likely columns must give."""
    runs = _products(bench)
    lines = {
        f"{name}_{order}": round(run[what].lines_per_gather, 2)
        for name, run in runs.items()
        for order, what in (("rows_at_once", "gather"), ("entries", "entries"))
    }
    closed = lines_of_uniform(_matrices()["uniform"].columns * 4 // LINE_BYTES)
    text = "lines a gather, 16 rows at once and entry by entry: " + ", ".join(
        f"{name} {lines[f'{name}_rows_at_once']} and {lines[f'{name}_entries']}" for name in runs
    )
    text += f" (equally likely, closed form: {closed:.2f})"
    coherent = {name: count for name, count in lines.items() if not name.startswith("uniform")}
    return Measured(text, {**lines, "closed_form": round(closed, 2)}, {"coherent": coherent})


def gain_of_gather(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the cycles of the product with a gather and without."""
    shared, alone = {}, {}
    for name, run in _products(bench).items():
        shared[name] = run["scalars"].core / run["gather"].core
        alone[name] = sum(run["scalars"].alone) / sum(run["gather"].alone)
    means = [sum(each.values()) / len(each) for each in (shared, alone)]
    text = ", ".join(f"{name} {ratio:.1f}x" for name, ratio in shared.items())
    text += f": {means[0]:.1f}x in the mean; {means[1]:.1f}x with one thread on the core"
    figures = {**shared, **{f"{name}_alone": value for name, value in alone.items()}}
    figures |= {"mean": means[0], "mean_alone": means[1]}
    ratios = {"four threads": round(means[0], 3), "one thread": round(means[1], 3)}
    return Measured(text, {name: round(value, 3) for name, value in figures.items()}, {"mean": ratios})


def clauses_skipped(bench: SceneBench, printed: Printed) -> Measured:
    """Time both clauses with branches over them and without, at densities of the mask from 0 to 1."""
    rows = densities(_DENSITIES)
    figures = {f"saved_{each.density:g}": round(each.saved, 4) for each in rows}
    figures["uniform_masks_that_gain"] = sum(each.saved > 0 for each in (rows[0], rows[-1]))
    gains = [each.density for each in rows if each.saved > 0]
    most = max((each for each in gains if each < 0.5), default=None)
    least = min((each for each in gains if each > 0.5), default=None)
    text = f"cycles saved by the branches: {rows[0].saved:.0%} where no lane takes the if, {rows[-1].saved:.0%} where"
    text += f" all do, {rows[len(rows) // 2].saved:.0%} at one half;"
    text += f" a gain up to {_share(most)} of lanes that take the if, and from {_share(least)} on"
    return Measured(text, figures)


def _share(value: float | None) -> str:
    return "no share" if value is None else f"{value:.0%}"


def software_filtering(bench: SceneBench, printed: Printed) -> Measured:
    """Time bilinear filtering in software; say what a texture unit would have to do for the printed ratios."""
    side = 64
    texture = np.random.default_rng(3).integers(0, 256, (side, side, 4)).astype(np.uint8)
    near = filter_bilinear(texture, aligned_coordinates(16)).cycles
    far = filter_bilinear(texture, scattered_coordinates(16, side, side)).cycles
    blocks = np.random.default_rng(3).integers(0, 1 << 32, (side // 4, side // 4, 2), dtype=np.uint32)
    places = aligned_coordinates(16)
    compressed = filter_compressed(blocks, places, threads=THREADS)[1].cycles * LANES / len(places)
    rates = {name: LANES * printed[name] / near for name in ("least", "most")}
    text = (
        f"{near:.0f} cycles for 16 samples side by side, {far:.0f} scattered, {compressed:.0f} of compressed blocks; "
    )
    text += "a unit with"
    text += f" {rates['least']:.1f} to {rates['most']:.1f} samples a clock for each core gives the printed ratios"
    figures = {"cycles": near, "cycles_scattered": far, "cycles_compressed": compressed}
    figures |= {"rate_at_least": rates["least"], "rate_at_most": rates["most"]}
    ratios = {
        f"{how}, {rate} a clock": round(cycles / (LANES / rate), 2)
        for how, cycles in (("side by side", near), ("scattered", far), ("compressed", compressed))
        for rate in _RATES
    }
    text += f"; here a unit has {TextureConfig().pixels_per_cycle}, which is invented"
    return Measured(text, {name: round(value, 3) for name, value in figures.items()}, {"ratio": ratios})


def peak_of_a_core(bench: SceneBench, printed: Printed) -> Measured:
    """Execute fused multiply-adds at full rate."""
    flops = _flops_per_cycle()
    return Measured(f"{flops:g} flops a cycle, {flops:g} GFLOPS at 1 GHz", {"flops_per_cycle": flops})


def rays_and_a_triangle(bench: SceneBench, printed: Printed) -> Measured:
    """Time the ray kernel."""
    test = time_rays()
    text = f"{test.vector:g} vector operations: {test.shared:g} cycles with four threads on the core,"
    text += f" {test.alone:g} with one"
    figures = {"vector": test.vector, "shared": test.shared, "alone": test.alone}
    return Measured(text, figures, {"cycles": {"four threads": test.shared, "one thread": test.alone}})
