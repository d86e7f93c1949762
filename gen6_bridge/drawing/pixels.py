"""Shading of a draw's pixels: threads with their payload, carried out side by side, and what they have written."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.code.isa.meanings.execution import FloatRules
from gen6_bridge.drawing.account import FrameAccount
from gen6_bridge.drawing.functions import PixelFunctions
from gen6_bridge.drawing.rasterizer import Pixels, pixel_threads
from gen6_bridge.drawing.shaders import COLUMNS, CONSTANTS, PLANES, ROWS, SAMPLE, ShaderKind, pixel_shader
from gen6_bridge.time import CarriedStep, ThreadTraces
from gen6_bridge.unit import ExecutionUnit
from pixelflow.simd.drawing import Blend, Draw, coordinate_bits, places_of

__all__ = ["Shaded", "kind_of", "shaded"]

_AT_ONCE = 1024
"""Threads that are carried out side by side."""
_TRANSLUCENT = (Blend.OVER, Blend.ADD, Blend.SORTED)

Shaded = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]
"""Of each pixel the colour int64[pixel, rgb], the opacity int64[pixel], and whether it was not killed."""


def kind_of(draw: Draw, samples: int, channels: int, *, cut: bool, colours: bool) -> ShaderKind:
    """Return what the shader of a draw must do, where it kills (``cut``) and where it writes ``colours``."""
    state = draw.state
    textured, correct = state.texture is not None and (colours or cut), not bool(draw.triangles.level.all())
    return ShaderKind(
        textured=textured,
        translucent=colours and state.blend in _TRANSLUCENT,
        cut=cut,
        colours=colours,
        samples=samples,
        channels=channels,
        correct=correct,
        bits=coordinate_bits(draw.triangles) if correct and textured else 0,
        mipmaps=state.texture is not None and state.texture.mipmaps,
    )


def shaded(draw: Draw, pixels: Pixels, kind: ShaderKind, account: FrameAccount) -> Shaded:
    """Shade pixels of a draw, and time the threads."""
    program, config = pixel_shader(kind), account.config
    arithmetic = FloatRules(fused=config.fused, flushes=config.flushes)
    threads = pixel_threads(draw, pixels, kind.channels, places_of(kind.samples))
    values, kept = np.zeros((len(pixels), 4), np.int64), np.zeros(len(pixels), np.bool_)
    steps: list[list[CarriedStep]] = []
    for begin in range(0, len(threads), _AT_ONCE):
        part = threads.part(begin, begin + _AT_ONCE)
        functions = PixelFunctions(len(part), kind.channels, draw.state.texture)
        unit = ExecutionUnit(
            program.code, len(part), dispatch=part.dispatched, functions=functions, arithmetic=arithmetic
        )
        for register, words in ((COLUMNS, part.columns), (ROWS, part.rows), (SAMPLE, part.sample)):
            unit.set_register(register, words.astype(np.uint16))
        unit.set_register(CONSTANTS, np.array([draw.state.alpha, draw.state.cutout], np.uint32))
        unit.set_register(PLANES, part.planes)
        traces = ThreadTraces(unit)
        unit.run(traces)
        steps += traces.steps
        lit = part.pixel >= 0
        values[part.pixel[lit]], kept[part.pixel[lit]] = functions.bytes[lit], functions.kept[lit]
        if functions.sampled:
            account.traffic["texels"] += functions.sampled
    account.took_pixels(draw.name, program, steps)
    account.threads += len(threads)
    account.there += int(threads.there.sum())
    account.visible += len(pixels)
    return values[:, :3], values[:, 3], kept
