"""Measures of sections 2 to 4 and of Table 2: caches, memory, clears, compression, rates of texture reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from attila_bridge.claims.bench import AttilaBench
from attila_bridge.claims.probes import DEPTH, giants, probe, reading, texture
from attila_bridge.run import AttilaRun, run_scene
from attila_bridge.scene.model import SceneTexture
from attila_bridge.time.config import CASE, PAPER
from pixelflow.evidence import Measured, Number

__all__ = ["MEASURES", "texels_of"]

Printed = Mapping[str, Number]
_KB = 1024
_LINE_TEXELS = 64
_ONE = PAPER.with_values({"gpu.shaders": 1})
"""One shader, so that one texture unit sees every texel."""
_FED = CASE.with_values({"texture.units": 1, "texture.request_rate": 1})
"""One texture unit, whose requests wait in a long queue, and a shader that issues three instructions a cycle."""


def texels_of(size: int, each: float) -> np.ndarray:
    """Return texture coordinates of triangles that cover the screen, ``each`` times the texture across it."""
    return np.tile(np.array([(0, 0, 0, 1), (2 * each, 0, 0, 1), (0, 2 * each, 0, 1)], np.float64), (size, 1))


def registers(bench: AttilaBench, printed: Printed) -> Measured:
    """Hold as many inputs of a program of four temporaries as there is room for."""
    run, log = bench.four_registers()
    program = run.work.draws[0].fragment_program
    each = max(program.inputs, program.temporaries, program.outputs)
    held = log.held(["FS0::ShaderCommand"], ["FS0::ShaderOutput"])
    text = f"{held} inputs of {each} registers held at once, 16 of them waiting"
    return Measured(text, {"registers": min(held, 448 // each) * each})


def caches(bench: AttilaBench, printed: Printed) -> Measured:
    """Read textures of more and more lines twice: those that come in again do not fit."""
    fits, line = 0, 0
    for width, height in ((32, 32), (64, 32), (64, 64), (128, 64), (128, 128)):
        image = texture(max(width, height))
        image = SceneTexture(
            image.name, (image.levels[0][:height, :width],), image.min, image.mag, image.wrap, image.anisotropy
        )
        run = _read_twice(bench, image)
        if run.columns["texture_bytes"] == 4 * width * height:
            fits = 4 * width * height
        line = line or run.columns["texture_bytes"] // (width * height // _LINE_TEXELS)
    text = f"{fits // _KB} KB come in once, twice as many twice; {line} bytes for a tile of 8x8 texels"
    return Measured(text, {"kilobytes": fits // _KB, "line": line})


def _read_twice(bench: AttilaBench, image: SceneTexture) -> AttilaRun:
    scene = probe(giants(2), size=64, fragment=reading(1, 3), textures={0: image}, coordinates=texels_of(2, 1.0))
    return bench.once(f"texture {image.size}", lambda: run_scene(scene, config=_ONE))


def memory_rate(bench: AttilaBench, printed: Printed) -> Measured:
    """Say what the channels give together."""
    memory = PAPER.memory
    rate = memory.channels * 64 // memory.transaction_cycles
    return Measured(f"{memory.channels} channels of 64 bytes in {memory.transaction_cycles} cycles", {"bytes": rate})


def fast_clear(bench: AttilaBench, printed: Printed) -> Measured:
    """Clear a frame in which nothing is drawn."""
    outside = giants(1) + np.array([10.0, 0, 0, 0])
    run = bench.once("clear", lambda: run_scene(probe(outside, state=DEPTH), config=PAPER))
    moved = sum(
        run.columns[name] for name in ("z_read_bytes", "z_write_bytes", "color_read_bytes", "color_write_bytes")
    )
    return Measured(f"{run.columns['cp_Clear']} cycles for colour and depth, {moved} bytes", {"bytes": moved})


def compression(bench: AttilaBench, printed: Printed) -> Measured:
    """Write planes of depth that are tilted a little and more."""
    sizes: dict[int, int] = {}
    for tilt in (0.0, 0.001, 0.5):
        corners = giants(1)
        corners[:, 2] = (0.0, tilt, 2 * tilt)
        scene = probe(np.concatenate([corners, corners - (0, 0, 1e-3, 0)]), size=128, state=DEPTH)
        run = bench.once(f"tilt {tilt}", lambda scene=scene: run_scene(scene, config=PAPER))
        for name, count in run.statistics.items():
            if name.startswith("ComprBlock") and "_ZST" in name:
                sizes[int(name[10:].partition("_")[0])] = sizes.get(int(name[10:].partition("_")[0]), 0) + count
    text = ", ".join(f"{count} lines of {size} bytes" for size, count in sorted(sizes.items()) if count)
    return Measured(text, {"quarter": int(sizes.get(64, 0) > 0), "half": int(sizes.get(128, 0) > 0)})


def bilinear(bench: AttilaBench, printed: Printed) -> Measured:
    """Read the same texels four and eight times, from one level and from two."""
    rates = {}
    for name, image, scale in (("bilinear", texture(16), 0.25), ("trilinear", texture(128, levels=True), 0.75)):
        cycles = []
        for reads in (4, 8):
            scene = probe(
                giants(1), size=64, fragment=reading(reads, 2 * reads), textures={0: image},
                coordinates=texels_of(1, scale),
            )  # fmt: skip
            run = bench.once(f"{name} {reads}", lambda scene=scene: run_scene(scene, config=_FED))
            cycles.append((run.columns["cycles_drawing"], run.columns["texture_requests"]))
        (first, few), (last, many) = cycles
        rates[name] = (last - first) / (many - few)
    text = ", ".join(f"{rate:.3f} cycles a {name} read more" for name, rate in rates.items())
    return Measured(text, {name: round(rate) for name, rate in rates.items()})


def statistics(bench: AttilaBench, printed: Printed) -> Measured:
    """Count the statistics of a run, whatever unit they are of."""
    run, _ = bench.small()
    kinds = {name.partition("-")[0] for name in run.statistics}
    return Measured(f"{len(kinds)} statistics, {len(run.statistics)} with their units", {"statistics": len(kinds)})


MEASURES: dict[str, Callable[[AttilaBench, Printed], Measured]] = {
    "registers": registers,
    "caches": caches,
    "memory-rate": memory_rate,
    "fast-clear": fast_clear,
    "compression": compression,
    "bilinear": bilinear,
    "statistics": statistics,
}
"""By the names of the claims."""
