"""Measures of sections 2 to 4 and of Tables 1 and 2: units, caches, memory, clears, compression, texture reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from attila_bridge.claims.probes import (
    DEPTH,
    MOST_ATTRIBUTES,
    OVER,
    AttilaBench,
    WireLog,
    corners,
    giants,
    probe,
    reading,
    texture,
    watched,
)
from attila_bridge.run import SceneRun, run_scene
from attila_bridge.scene import DrawState
from attila_bridge.statistics import STATISTICS
from attila_bridge.time.config import CASE, PAPER
from pixelflow.evidence import Measured, Number

Printed = Mapping[str, Number]
_KB = 1024
_ONE = PAPER.with_values({"gpu.shaders": 1})
"""One shader, so that one texture unit sees every texel."""
_ONE_ROP = PAPER.with_values({"gpu.rops": 1})
"""One ROP, which has the lines of every set; each of two has those of every other set."""
_FED = CASE.with_values({"texture.units": 1, "texture.request_rate": 1})
"""One texture unit with a long queue of requests, and a shader that issues three instructions a cycle."""


def texels_of(size: int, each: float) -> np.ndarray:
    """Return texture coordinates of triangles that cover the screen, with ``each`` textures across it."""
    return np.tile(np.array([(0, 0, 0, 1), (2 * each, 0, 0, 1), (0, 2 * each, 0, 1)], np.float64), (size, 1))


def registers(bench: AttilaBench, printed: Printed) -> Measured:
    """Fill the registers with inputs of a program of four temporaries."""
    run, log = bench.four_registers()
    program = run.work.draws[0].fragment_program
    each = max(program.inputs, program.temporaries, program.outputs)
    held = log.held(["FS0::ShaderCommand"], ["FS0::ShaderOutput"])
    return Measured(f"{held} inputs of {each} registers held at once", {"registers": held * each})


def caches(bench: AttilaBench, printed: Printed) -> Measured:
    """Use more and more lines twice: those that are read a second time do not fit."""
    texels = max(size for size in _SIZES if _texture_fits(bench, size))
    depth = max(size for size in _SIZES if _frame_fits(bench, size, DEPTH, "z_read_bytes"))
    colour = max(size for size in _SIZES if _frame_fits(bench, size, OVER, "color_read_bytes"))
    ways = max(count for count in range(1, _MOST_WAYS + 1) if _one_set_fits(bench, count))
    once = _repeated(bench, 4)
    line = once.columns["texture_bytes"] // once.columns["texture_fetch_misses_ok"]
    text = f"{texels} KB of texels, {depth} KB of depths and {colour} KB of colours of a unit are read once, twice as "
    text += f"many more often; so are {ways} lines of one set, one line more is not; {line} bytes for a line"
    return Measured(text, {"texture": texels, "depth": depth, "colour": colour, "ways": ways, "line": line})


_SIZES = (4, 8, 16, 32)
"""Kilobytes tried."""
_MOST_WAYS = 6
_LINES_BETWEEN = 16
"""Lines from one line to the next of its set."""


def _sized(kilobytes: int) -> tuple[int, int]:
    """Return width and height of an area of whole tiles in words of 4 bytes."""
    words = kilobytes * _KB // 4
    width = 1 << (words.bit_length()) // 2
    return width, words // width


def _repeated(bench: AttilaBench, kilobytes: int) -> SceneRun:
    """Return a screen that reads a whole texture in each of its quarters."""
    width, height = _sized(kilobytes)
    image = texture(max(width, height))
    image = replace(image, levels=(image.levels[0][:height, :width],))
    scene = probe(giants(1), size=64, fragment=reading(1, 3), textures={0: image}, coordinates=texels_of(1, 2.0))
    return bench.once(f"texture of {kilobytes} KB", lambda: run_scene(scene, config=_ONE))


def _texture_fits(bench: AttilaBench, kilobytes: int) -> bool:
    return _repeated(bench, kilobytes).columns["texture_bytes"] == kilobytes * _KB


def _frame_fits(bench: AttilaBench, kilobytes: int, state: DrawState, read: str) -> bool:
    """Return whether two batches of triangles over a frame of that size in a unit read nothing back."""
    width, height = _sized(kilobytes)
    scene = probe(giants(8), size=width, height=height, state=state)
    run = bench.once(f"{read} of {kilobytes} KB", lambda: run_scene(scene, config=_ONE_ROP))
    return run.columns[read] == 0


def _one_set_fits(bench: AttilaBench, count: int) -> bool:
    """Return whether lines of one set, each read by another triangle and then again, are read once."""
    tile = np.arange(2 * count) % count * _LINES_BETWEEN
    # Lines of 8x8 texels are in Morton order in squares of 8x8 lines, one square after the other.
    inner = tile % 64
    x, y = 8 * (tile // 64), np.zeros_like(tile)
    for bit in range(3):
        x += (inner >> 2 * bit & 1) << bit
        y += (inner >> 2 * bit + 1 & 1) << bit
    coordinates = np.zeros((2 * count, 3, 4))
    coordinates[..., 0] = (8 * x[:, None] + 4) / 128
    coordinates[..., 1] = (8 * y[:, None] + 4) / 64
    points = np.array(list(corners(2 * count, 2.0)))
    image = texture(128)
    image = replace(image, levels=(image.levels[0][:64],))
    scene = probe(points, fragment=reading(1, 3), textures={0: image}, coordinates=coordinates.reshape(-1, 4))
    run = bench.once(f"{count} lines of a set", lambda: run_scene(scene, config=_ONE))
    return run.columns["texture_fetch_misses_ok"] == count


def memory_rate(bench: AttilaBench, printed: Printed) -> Measured:
    """Write layers over each other, and count the transactions begun by the channels."""
    modules = [f"MemoryModule{number:02}" for number in range(PAPER.memory.channels)]
    log = bench.opaque()[1]
    window = 4
    most = log.rate(modules, window)
    text = f"{most} transactions of 64 bytes within {window} cycles at most, {sum(len(log.sent[m]) for m in modules):,}"
    return Measured(f"{text} in all", {"bytes": most * 64 // window})


def fast_clear(bench: AttilaBench, printed: Printed) -> Measured:
    """Clear a frame without drawing."""
    outside = giants(1) + np.array([10.0, 0, 0, 0])
    run = bench.once("clear", lambda: run_scene(probe(outside, state=DEPTH), config=PAPER))
    moved = sum(
        run.columns[name] for name in ("z_read_bytes", "z_write_bytes", "color_read_bytes", "color_write_bytes")
    )
    return Measured(f"{run.columns['cp_Clear']} cycles for colour and depth, {moved} bytes", {"bytes": moved})


def compression(bench: AttilaBench, printed: Printed) -> Measured:
    """Write planes of depth with different tilts."""
    sizes: dict[int, int] = {}
    for tilt in (0.0, 0.001, 0.5):
        plane = giants(1)
        plane[:, 2] = (0.0, tilt, 2 * tilt)
        scene = probe(np.concatenate([plane, plane - (0, 0, 1e-3, 0)]), size=128, state=DEPTH)
        run = bench.once(f"tilt {tilt}", partial(run_scene, scene, config=PAPER))
        for name, count in run.statistics.items():
            if name.startswith("ComprBlock") and "_ZST" in name:
                sizes[int(name[10:].partition("_")[0])] = sizes.get(int(name[10:].partition("_")[0]), 0) + int(count)
    text = ", ".join(f"{count} lines of {size} bytes" for size, count in sorted(sizes.items()) if count)
    return Measured(text, {"quarter": int(sizes.get(64, 0) > 0), "half": int(sizes.get(128, 0) > 0)})


def bilinear(bench: AttilaBench, printed: Printed) -> Measured:
    """Read the same texels four and eight times, from one level and from two."""
    rates: dict[str, float] = {}
    shortest: dict[str, int] = {}
    for name, image, scale in (("bilinear", texture(16), 0.25), ("trilinear", texture(128, levels=True), 0.75)):
        cycles = []
        for reads in (4, 8):
            scene = probe(
                giants(1), size=64, fragment=reading(reads, 2 * reads), textures={0: image},
                coordinates=texels_of(1, scale),
            )  # fmt: skip
            run, log = bench.once(f"{name} {reads}", partial(watched, scene, _FED))
            cycles.append((run.columns["cycles_drawing"], run.columns["texture_requests"]))
        shortest[name] = log.shortest("FS0TU0::TextureFilter")
        (first, few), (last, many) = cycles
        rates[name] = (last - first) / (many - few)
    text = ", ".join(f"{rate:.3f} cycles of drawing for each {name} read more" for name, rate in rates.items())
    least = " and ".join(map(str, shortest.values()))
    return Measured(f"one is filtered every {least} cycles at best; {text}", shortest)


def statistics(bench: AttilaBench, printed: Printed) -> Measured:
    """Count the declared statistics and those of a run."""
    run, _ = bench.small()
    declared = len({(each.name, each.box) for each in STATISTICS})
    text = f"{declared} statistics declared, {len(run.statistics)} in a run, units and channels apart"
    return Measured(text, {"declared": declared, "as_many": int(declared >= printed["statistics"])})


# Measures of Table 1: throughput, queues and latencies of units.


Seen = tuple[Callable[[AttilaBench], tuple[SceneRun, WireLog]], Callable[[WireLog], int]]
"""A probe, and a figure of its log."""

_small, _crowded, _opaque = AttilaBench.small, AttilaBench.crowded, AttilaBench.opaque
_hidden, _blended, _long = AttilaBench.hidden, AttilaBench.blended, AttilaBench.long


def _most(wire: str) -> Callable[[WireLog], int]:
    return lambda log: log.most(wire)


def _least(wire: str) -> Callable[[WireLog], int]:
    return lambda log: min(log.latencies[wire])


def _every(wire: str) -> Callable[[WireLog], int]:
    return lambda log: log.shortest(wire)


def _held(into: str, out: str) -> Callable[[WireLog], int]:
    return lambda log: log.held([into], [out])


def _queued(name: str) -> Callable[[WireLog], int]:
    return lambda log: log.queued(name)


def _seen(**figures: Seen) -> Callable[[AttilaBench, Printed], Measured]:
    """Return a measure of figures of wires and queues."""

    def measure(bench: AttilaBench, printed: Printed) -> Measured:
        values = {name: read(probe_of(bench)[1]) for name, (probe_of, read) in figures.items()}
        return Measured(", ".join(f"{name} {value}" for name, value in values.items()), values)

    return measure


streamer = _seen(
    indices=(_small, _most("StreamerOutputCache")),
    vertices=(_small, _most("PrimitiveAssemblyInput")),
    kept=(_crowded, _queued("vertices")),
)
assembly = _seen(
    vertices=(_small, _most("PrimitiveAssemblyInput")),
    triangles=(_small, _most("ClipperInput")),
    queue=(_small, _held("PrimitiveAssemblyRequest", "PrimitiveAssemblyInput")),
)
clipping = _seen(
    triangles=(_crowded, _most("ClipperInput")),
    given=(_crowded, _most("RasterizerNewTriangle")),
    queue=(_crowded, _queued("clipped")),
    latency=(_crowded, _least("ClipperExecution")),
)
setup = _seen(
    triangles=(_crowded, _most("RasterizerNewTriangle")),
    given=(_crowded, _most("TriangleSetupOutput")),
    cycles=(_small, _every("TriangleSetup")),
    queue=(_crowded, _held("RasterizerNewTriangle", "TriangleSetupOutput")),
    latency=(_crowded, _least("TriangleSetup")),
)
generation = _seen(
    triangles=(_opaque, _most("TriangleSetupOutput")),
    fragments=(_opaque, _most("HZInputFragment")),
)
z_test = _seen(
    fragments=(_hidden, _most("SU0::ZStencilInput")),
    given=(_hidden, _most("SU0::ZStencilOutput")),
    queue=(_hidden, _queued("z")),
    latency=(_hidden, _least("SU0::ZStencilTest")),
)
colour_write = _seen(
    fragments=(_blended, _most("SU0::ColorWriteInput")),
    queue=(_blended, _queued("colour")),
    latency=(_blended, _least("SU0::ColorWriteBlend")),
)
fragment_shader = _seen(
    fragments=(_long, _most("FS0::ShaderCommand")),
    given=(_long, _most("FS0::ShaderOutput")),
    inputs=(_long, _held("FS0::ShaderCommand", "FS0::ShaderOutput")),
)


def hierarchical_z(bench: AttilaBench, printed: Printed) -> Measured:
    """Draw triangles that cover the screen; the size of the queue is read back from the machine."""
    _, log = bench.covering()
    taken, given = log.most("HZInputFragment"), log.most("HZOutput")
    queue, latency = bench.opaque()[1].queued("hz"), min(log.latencies["HZOutput"])
    size = PAPER.hz.queue
    text = f"{taken} fragments in, {given} out in a cycle; {latency} cycle; {queue} of {size} quads held at once"
    figures = {"fragments": taken, "given": given, "latency": latency, "queue": size, "held": queue}
    return Measured(text, {**figures, "more_than_printed": int(queue > printed["queue"])})


def interpolation(bench: AttilaBench, printed: Printed) -> Measured:
    """Interpolate from no attributes up to the most that a program can read."""
    _, log = bench.opaque()
    taken, given = log.most("InterpolatorInput"), log.most("InterpolatorOutput")
    counts = (0, 1, 4, 5, MOST_ATTRIBUTES)
    latencies = {count: max(bench.interpolated(count)[1].latencies["Interpolation"]) for count in counts}
    text = f"{taken} fragments in, {given} out in a cycle; "
    text += ", ".join(f"{cycles} cycles for {count}" for count, cycles in latencies.items()) + " attributes"
    least, most = min(latencies.values()), max(latencies.values())
    return Measured(text, {"fragments": taken, "given": given, "least": least, "most": most})
