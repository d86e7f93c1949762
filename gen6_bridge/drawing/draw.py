"""A frame on execution units: threads for its visible pixels, draw by draw, carried out and scheduled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from gen6_bridge.code.isa.meanings.execution import FloatRules
from gen6_bridge.drawing.functions import PixelFunctions
from gen6_bridge.drawing.rasterizer import PixelThreads, pixel_threads
from gen6_bridge.drawing.shaders import COLUMNS, PLANES, ROWS, pixel_shader
from gen6_bridge.time import EU_MHZ, CarriedStep, EuConfig, ThreadTraces, schedule
from gen6_bridge.unit import ExecutionUnit
from pixelflow.simd.drawing import DepthTest, Draw, DrawnFrame, Frame, Picture
from pixelflow.simd.drawing.frame import Blend
from pixelflow.simd.errors import Fault, InputError

__all__ = ["draw_on_gen6"]

_AT_ONCE = 1024
"""Threads that are carried out side by side."""
_CHANNELS = 16
_WIDTH = 4
"""Channels of the vector pipe that a cycle serves: it is held for two cycles for each eight."""


@dataclass(slots=True)
class _Account:
    """What the threads of a frame did."""

    cycles: int = 0
    held: Counter[str] = field(default_factory=Counter)
    stages: dict[str, int] = field(default_factory=dict)
    mix: Counter[str] = field(default_factory=Counter)
    threads: int = 0
    there: int = 0
    visible: int = 0
    sampled: int = 0
    written: int = 0


def draw_on_gen6(
    frame: Frame,
    *,
    parts: int = 1,
    config: EuConfig | None = None,
    progress: Callable[[str], None] | None = None,
) -> DrawnFrame:
    """Draw a frame by ``parts`` execution units; raises InputError for states that its shaders do not have."""
    config = replace(config or EuConfig(), units=parts)
    _check(frame)
    picture, account = Picture.empty(frame.width, frame.height, frame.background), _Account()
    for draw in frame.draws:
        if progress is not None:
            progress(draw.name)
        threads = pixel_threads(draw, picture.depths)
        _shade(draw, threads, picture, config, account)
    dispatched = max(1, account.there)
    return DrawnFrame(
        machine="Gen6",
        parts=parts,
        lanes=_WIDTH * parts,
        clock_mhz=EU_MHZ,
        cycles=account.cycles,
        work=account.held["fpu"] + account.held["math"],
        stages=account.stages,
        mix=dict(account.mix),
        covered_lanes=account.visible / dispatched,
        enabled_lanes=account.there / (_CHANNELS * account.threads) if account.threads else None,
        traffic={"render target": account.written, "texels": account.sampled},
        picture=picture,
        whose_stages="of the longest unit, draw after draw",
        facts=(
            ("threads", f"{account.threads:,} of sixteen channels, up to four subspans of one triangle each"),
            ("fixed functions", "coverage, depth, filter and the rounding of colours take no cycles here"),
        ),
    )


def _check(frame: Frame) -> None:
    faults = []
    if frame.samples != 1:
        faults.append(Fault("Gen6 draws one sample a pixel here"))
    for draw in frame.draws:
        state = draw.state
        usual = state.depth_test is DepthTest.LESS and state.depth_write and state.colour_write
        if not usual or state.blend is not Blend.REPLACE or state.stencil is not None or state.cutout:
            hint = "nearest depth wins, colours replaced, a texture or none; larrabee draws all states"
            faults.append(Fault(f"draw {draw.name}: Gen6 has no shader here for its state", hint=hint))
    if faults:
        raise InputError(faults)


def _shade(draw: Draw, threads: PixelThreads, picture: Picture, config: EuConfig, account: _Account) -> None:
    """Shade the visible pixels of a draw, and time its threads."""
    program = pixel_shader(textured=draw.state.texture is not None)
    steps: list[list[CarriedStep]] = []
    for begin in range(0, len(threads), _AT_ONCE):
        part = threads.part(begin, begin + _AT_ONCE)
        functions = PixelFunctions(part, draw.state.texture, picture.colours)
        arithmetic = FloatRules(fused=config.fused, flushes=config.flushes)
        unit = ExecutionUnit(
            program.code, len(part), dispatch=part.dispatched, functions=functions, arithmetic=arithmetic
        )
        unit.set_register(COLUMNS, part.columns.astype(np.uint16))
        unit.set_register(ROWS, part.rows.astype(np.uint16))
        unit.set_register(PLANES, part.planes)
        traces = ThreadTraces(unit)
        unit.run(traces)
        steps += traces.steps
        account.sampled += functions.sampled
        account.written += functions.written
    timed = schedule(program.code, steps, config)
    account.cycles += timed.cycles
    account.held += timed.held
    account.stages[draw.name] = account.stages.get(draw.name, 0) + timed.cycles
    families = Counter(each.declaration.family.value for each in program.code)
    for family, count in families.items():
        account.mix[family] += count * len(threads)
    account.threads += len(threads)
    account.there += int(threads.there.sum())
    account.visible += int(threads.visible.sum())
