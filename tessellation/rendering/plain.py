"""Which frames the PEs' program draws: the nearest of opaque triangles, once a pixel."""

from __future__ import annotations

from pixelflow.drawing import Frame, ScreenTriangles
from pixelflow.errors import Fault, InputError

__all__ = ["plain_triangles"]


def plain_triangles(frame: Frame) -> ScreenTriangles:
    """Return the triangles of a frame in one piece, in their order.

    Raises InputError, naming the draws, for a frame that the PEs' program does not draw: it keeps the nearest depth and
    a colour, once a pixel.
    """
    if frame.plain:
        return ScreenTriangles.joined([draw.triangles for draw in frame.draws])
    others = [draw.name for draw in frame.draws if not draw.state.plain]
    wanted = [f"{', '.join(others)}: blending, textures, stencil or other tests"] if others else []
    wanted += [f"{frame.samples} samples a pixel"] if frame.samples != 1 else []
    hint = "PixelFlow draws the nearest of opaque, plain triangles at one sample; add --machine larrabee to render it"
    raise InputError(Fault(f"not drawn on PixelFlow here: {'; '.join(wanted)}", hint=hint))
