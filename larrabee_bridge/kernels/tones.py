"""Tones over resident tiles (6.3): the render target is read where it lies, against a pass of its own over memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.parallel_views import ShadowViews
from larrabee_bridge.kernels.study import CoresRun, KernelResult, carry_out
from larrabee_bridge.kernels.tracing import knot_on_floor
from larrabee_bridge.kernels.transparency import back_end_run
from larrabee_bridge.pipeline.back_end import ToneCurve, render_back_end
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.program import LINE_BYTES, MEMORY_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.drawing import Frame
from pixelflow.simd.lanes.words import ByteMemory
from pixelflow.simd.report import number

_SIZE = 512
_KNOT = 240, 20
_LINES = 64
"""Lines of pixels of a thread in a pass of its own."""
_PIXEL = 4
"""Bytes of a colour in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Toned:
    """A frame with tones, both ways, and without."""

    resident: NDArray[np.uint8]
    again: NDArray[np.uint8]
    plain: NDArray[np.uint8]
    """uint8[row, column, rgb] each; ``plain`` is without tones."""
    drawn: CoresRun
    """The back end without tones."""
    within: CoresRun
    """With them in its tiles."""
    after: CoresRun
    """The pass of its own that reads the picture and writes it again."""


def toned(frame: Frame, curve: ToneCurve | None = None, config: CoreConfig | None = None) -> Toned:
    """Bring a frame's colours through a curve in its tiles, and in a pass of its own; caches take part in both."""
    config, curve = replace(config or CoreConfig(), caches=True), curve or ToneCurve()
    plain = render_back_end(frame, config=config, every_tile=True)
    within = render_back_end(frame, config=config, every_tile=True, tones=curve)
    again, after = _over_memory(plain.picture.colours, curve, config)
    return Toned(within.picture.colours, again, plain.picture.colours, back_end_run(plain), back_end_run(within), after)


def _over_memory(
    colours: NDArray[np.uint8], curve: ToneCurve, config: CoreConfig
) -> tuple[NDArray[np.uint8], CoresRun]:
    given = np.zeros((*colours.shape[:2], _PIXEL), np.uint8)
    given[..., :3] = colours
    lines = -(-given.size // LINE_BYTES)
    memory = ByteMemory(MEMORY_BYTES + lines * LINE_BYTES)
    held = memory.data[0, MEMORY_BYTES : MEMORY_BYTES + given.size]
    held[:] = given.reshape(-1)
    first = np.arange(0, lines, _LINES)
    unit = VectorUnit(shipped("backend/tones.mc", BLOCK_BYTES=LINE_BYTES, **curve.parameters), len(first), memory)
    unit.set_scalar(0, MEMORY_BYTES + LINE_BYTES * first)
    unit.set_scalar(5, np.minimum(_LINES, lines - first))
    run = carry_out(unit, config)
    return held.reshape(given.shape)[..., :3].copy(), run


def tones_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Bring a picture of a knot through a curve of tones, while its tiles are in the cache and afterwards."""
    frame, curve = ShadowViews.of(knot_on_floor(*_KNOT), _SIZE).eye_frame(), ToneCurve()
    found = toned(frame, curve, config)
    wanted = curve.of(found.plain).astype(int)
    error = max(int(np.abs(each - wanted).max()) for each in (found.resident, found.again))
    more = found.within.from_memory - found.drawn.from_memory
    picture = _PIXEL * frame.width * frame.height
    saved = LINE_BYTES * (found.after.from_memory - more) + picture
    pixels = frame.width * frame.height
    return KernelResult(
        work=f"the back end of {frame.width}x{frame.height} pixels in tiles of 64x64, and Reinhard's curve of each "
        "channel; all before it is the host's; caches take part whatever is chosen",
        reference="the curve in float64, both ways",
        error=float(error),
        error_of="steps of 255",
        unit="pixel",
        units=pixels,
        phases=(found.within,),
        limit=f"tones take {(found.within.cycles - found.drawn.cycles) / pixels:.2f} cycles a pixel in tiles that are "
        f"there, with {number(more)} lines more from memory, and {found.after.cycles / pixels:.2f} in a pass of its "
        f"own, which brings {number(found.after.from_memory)} lines and writes {number(picture)} bytes again (by "
        f"formula): {number(saved)} bytes are saved; reciprocals are three steps of Newton's",
        picture=found.resident,
    )
