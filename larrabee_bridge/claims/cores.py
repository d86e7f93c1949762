"""Measures for claims about cores, vector units and applications: kernels that are executed, arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from larrabee_bridge.claims.bench import (
    CAMERAS,
    LARGE,
    LARGE_SHADOWED,
    PRIMSETS,
    Printed,
    SceneBench,
    equilateral,
    walk,
)
from larrabee_bridge.kernels.catalogue import STUDIES
from larrabee_bridge.kernels.compressed import filter_compressed
from larrabee_bridge.kernels.filtering import aligned_coordinates, filter_bilinear, scattered_coordinates
from larrabee_bridge.kernels.rays import loads, time_rays
from larrabee_bridge.kernels.spmv import Matrix, banded, five_point, lines_of_uniform, multiply, uniform
from larrabee_bridge.kernels.study import THREADS, CoresRun, KernelResult, run_kernel, scaled
from larrabee_bridge.pipeline.bins import QUAD, quads_of
from larrabee_bridge.pipeline.schedule import FrameWork, ScheduleConfig
from larrabee_bridge.pipeline.texture_unit import TextureConfig
from larrabee_bridge.pipeline.work import CORES, balance_of, scaling_of
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.isa.operands import Conversion
from larrabee_bridge.vpu.program import LINE_BYTES, assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.evidence import Measured, Value

# Measures for claims about cores and vector units: kernels that are executed, parameters, arithmetic.


_AREAS = (20, 80, 320, 1280, 5120, 10240)
_RATE = TextureConfig().pixels_per_cycle
"""Samples of a texture unit in a clock."""


_FLOPS = {VectorFamily.FUSED: 2, VectorFamily.FLOAT: 1}
"""Floating-point operations of a lane: a fused multiply-add is a product and a sum."""


def _flops_per_cycle() -> float:
    """Execute independent fused multiply-adds; return the flops of each cycle, by the declared families."""
    count = 28
    text = "\n".join(f"vmadd231ps v{number}, v30, v31" for number in range(count)) + "\n"
    run = run_kernel(VectorUnit(assemble_vector(text * 4)))
    return LANES * sum(_FLOPS.get(family, 0) * executed for family, executed in run.counts.items()) / run.cycles


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
    shares = {
        f"camera {number}": round(each.utilisation, 4) for number, each in zip(CAMERAS, walk(bench, LARGE), strict=True)
    }
    text += f"; in the walk {_span(shares.values())}"
    figures |= {name.replace(" ", "_"): share for name, share in shares.items()}
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


def _products(bench: SceneBench) -> dict[str, dict[str, CoresRun]]:
    """Return the runs of all matrices, with gather and without."""

    def compute() -> dict[str, dict[str, CoresRun]]:
        found = {}
        for name, matrix in _matrices().items():
            x = np.random.default_rng(2).normal(size=matrix.columns).astype(np.float32)
            found[name] = {
                "gather": multiply(matrix, x).timing,
                "scalars": multiply(matrix, x, hardware=False).timing,
            }
        return found

    return bench.once("products", compute)


def lines_of_gathers(bench: SceneBench, printed: Printed) -> Measured:
    """Count the lines that gathers touch, next to the closed form for equally likely columns."""
    lines = {name: round(run["gather"].lines_per_gather, 2) for name, run in _products(bench).items()}
    closed = lines_of_uniform(_matrices()["uniform"].columns * 4 // LINE_BYTES)
    text = f"lines a gather: {', '.join(f'{name} {count}' for name, count in lines.items())}"
    text += f" (equally likely, closed form: {closed:.2f})"
    coherent = {name: count for name, count in lines.items() if name != "uniform"}
    return Measured(text, {**lines, "closed_form": round(closed, 2)}, {"coherent": coherent})


def gain_of_gather(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the cycles of the product with a gather and without."""
    shared, alone = {}, {}
    for name, run in _products(bench).items():
        shared[name] = run["scalars"].cycles / run["gather"].cycles
        alone[name] = float(run["scalars"].alone.sum() / run["gather"].alone.sum())
    means = [sum(each.values()) / len(each) for each in (shared, alone)]
    text = ", ".join(f"{name} {ratio:.1f}x" for name, ratio in shared.items())
    text += f": {means[0]:.1f}x in the mean; {means[1]:.1f}x with one thread on the core"
    figures = {**shared, **{f"{name}_alone": value for name, value in alone.items()}}
    figures |= {"mean": means[0], "mean_alone": means[1]}
    ratios = {"four threads": round(means[0], 3)}
    return Measured(text, {name: round(value, 3) for name, value in figures.items()}, {"mean": ratios})


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
        how: round(cycles * _RATE / LANES, 2)
        for how, cycles in (("side by side", near), ("scattered", far), ("compressed", compressed))
    }
    text += (
        f"; here a unit has {_RATE}, which is invented: {', '.join(f'{how} {times}x' for how, times in ratios.items())}"
    )
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
    return Measured(text, figures, {"cycles": {"four threads": test.shared}})


# Measures for claims about many cores: scaling (figure 9), balance of bins (figure 11).


GAMES = LARGE, LARGE_SHADOWED
"""Frames of a camera path, without shadow volumes and with them, in place of those of games."""
_FRAMES = 25
"""Frames of a game (table 2): those of a camera path in turn."""
_GROWING = ScheduleConfig(memory_bytes=0)
"""The paper's: bandwidth grows with the cores (5.2)."""


def _game(bench: SceneBench, name: str, primset: int) -> list[FrameWork]:
    works = [each.works[primset] for each in walk(bench, name)]
    return [replace(works[number % len(works)], frame=number) for number in range(_FRAMES)]


def _short(works: Sequence[FrameWork], config: ScheduleConfig = _GROWING) -> float:
    """Return the share by which the most cores fall short of linear, relative to the fewest."""
    return round(scaling_of(works, config, (CORES[0], CORES[-1])).below_linear[-1], 4)


def _below(bench: SceneBench, primset: int) -> dict[str, float]:
    """Return the share that is missing of each game, and of its frames alone."""

    def compute() -> dict[str, float]:
        found = {}
        for name in GAMES:
            game = _game(bench, name, primset)
            found[name] = _short(game)
            found |= {f"{name}, camera {at} alone": _short([work]) for at, work in zip(CAMERAS, game, strict=False)}
        return found

    return bench.once(("below", primset), compute)


def _span(values: Iterable[float]) -> str:
    found = list(values)
    return f"{min(found):.1%} to {max(found):.1%}"


def scaling_of_cores(bench: SceneBench, printed: Printed) -> Measured:
    """Figure 9: schedule frames of camera paths on 8 and 48 cores, after one another and alone."""
    below = _below(bench, PRIMSETS[0])
    games = {name: below[name] for name in GAMES}
    one = {name: _short(_game(bench, name, PRIMSETS[0]), ScheduleConfig()) for name in GAMES}
    parts = [f"{name} {share:.1%} below, {one[name]:.1%} with one memory" for name, share in games.items()]
    text = f"{CORES[0]} to {CORES[-1]} cores: {'; '.join(parts)} of {ScheduleConfig().memory_bytes} bytes a cycle;"
    figures = {_key(name): share for name, share in below.items()}
    figures |= {f"{_key(name)}_one_memory": share for name, share in one.items()}
    text += f" frames alone {_span(share for name, share in below.items() if name not in games)}"
    return Measured(text, figures, {"below": games})


def _key(name: str) -> str:
    return name.replace(", ", "_").replace(" ", "_")


def scaling_of_primsets(bench: SceneBench, printed: Printed) -> Measured:
    """Schedule the frames with volumes in PrimSets of both sizes."""
    found = {primset: _below(bench, primset)[LARGE_SHADOWED] for primset in PRIMSETS}
    text = ", ".join(f"{share:.1%} below with PrimSets of {primset:,}" for primset, share in found.items())
    figures = {f"below_{primset}": share for primset, share in found.items()}
    return Measured(text, figures, {"below": {LARGE_SHADOWED: found[PRIMSETS[1]]}})


def smaller_primsets_help(bench: SceneBench, printed: Printed) -> Measured:
    """Compare both sizes of PrimSets: the share that is missing with the larger ones is not smaller."""
    large, small = (_below(bench, primset) for primset in PRIMSETS)
    gains = {name: round(large[name] - small[name], 4) for name in large}
    text = f"{_span(gains.values())} of linear are gained"
    return Measured(text, {"least": min(gains.values())}, {"gain": gains})


def balance_of_bins(bench: SceneBench, printed: Printed) -> Measured:
    """Figure 11: compare the bins of frames without volumes with their mean."""
    # Boxes put triangles into bins in which they cover nothing: a core has nothing to do there.
    bins = [each.works[PRIMSETS[0]].back for each in walk(bench, LARGE)]
    found = {f"camera {at}": balance_of([each[each > 0]]) for at, each in zip(CAMERAS, bins, strict=True)}
    text = "bins from 0.5x to 2x the mean: " + ", ".join(f"{name} {each.within:.0%}" for name, each in found.items())
    text += f"; above 3x {_span(each.above for each in found.values())},"
    text += f" the longest {max(each.greatest for each in found.values()):.1f}x"
    spread = {
        "most": {name: round(each.within, 4) for name, each in found.items()},
        "few": {name: round(each.above, 4) for name, each in found.items()},
    }
    figures: dict[str, Value] = {f"{key}_{_key(name)}": value for key in spread for name, value in spread[key].items()}
    return Measured(text, figures, spread)


def locks_of_frames(bench: SceneBench, printed: Printed) -> Measured:
    """Count the locks of the frames; multiply the printed ones, and divide by the clocks of a frame."""
    clocks = printed["locks"] * printed["clocks"]
    shares = {name: clocks / (printed[name] * 1e9 / printed["frames"]) for name in ("units", "fewer_units")}
    taken = {
        f"{name}, camera {at}": each.works[PRIMSETS[0]].locks
        for name in GAMES
        for at, each in zip(CAMERAS, walk(bench, name), strict=True)
    }
    text = f"our frames take {min(taken.values()):,} to {max(taken.values()):,} locks; as printed"
    text += f" {clocks:,.0f} clocks: {shares['units']:.2%} of a frame on {printed['units']} units,"
    text += f" {shares['fewer_units']:.1%} on {printed['fewer_units']}"
    figures: dict[str, Value] = {"all_clocks": clocks, "share": shares["units"], "share_fewer": shares["fewer_units"]}
    each = {"clocks": ScheduleConfig().lock_cycles, **{f"locks_{_key(name)}": count for name, count in taken.items()}}
    return Measured(text, figures | each, {"locks": taken})


# Measures for claims about applications on many cores: the kernels of `pixelflow kernels --machine larrabee`.


_PHYSICS = ("cloth", "sweep-and-prune", "particles", "gjk")


def _result(bench: SceneBench, name: str) -> KernelResult:
    study = next(each.study for each in STUDIES if each.name == name)
    return bench.once(("kernel", name), lambda: study(CoreConfig(caches=True), bench.progress))


def physics_on_cores(bench: SceneBench, printed: Printed) -> Measured:
    """Schedule four kernels of game physics on as many cores as the paper names."""
    cores = int(printed["cores"])
    figures = {}
    for name in _PHYSICS:
        figures[name] = scaled(_result(bench, name).phases, (1, cores)).efficiencies[-1]
    text = ", ".join(f"{name} {share:.0%}" for name, share in figures.items()) + f" of {cores} cores"
    shares = {name: round(share, 4) for name, share in figures.items()}
    return Measured(text, shares | {"cores": cores}, {"share": shares})
