"""Which frames the PEs' program draws: the nearest of opaque triangles, once a pixel."""

from __future__ import annotations

from collections.abc import Iterable

from pixelflow.simd.drawing import Frame, ScreenTriangles, State
from pixelflow.simd.errors import Fault, InputError

__all__ = ["plain_triangles", "require_plain"]


def plain_triangles(frame: Frame) -> ScreenTriangles:
    """Return the triangles of a frame in one piece, in their order.

    Raises InputError, naming the draws, for a frame that the PEs' program does not draw: it keeps the nearest depth and
    a colour, once a pixel.
    """
    require_plain(((draw.name, draw.state) for draw in frame.draws), frame.samples)
    return ScreenTriangles.joined([draw.triangles for draw in frame.draws])


def require_plain(draws: Iterable[tuple[str, State]], samples: int) -> None:
    """Raise InputError, as `plain_triangles` does, for draws of those names and states at ``samples`` a pixel.

    For callers that know how something is to look before they make its triangles.
    """
    others = [name for name, state in draws if not state.plain]
    wanted = [f"{', '.join(others)}: blending, textures, stencil or other tests"] if others else []
    wanted += [f"{samples} samples a pixel"] if samples != 1 else []
    if wanted:
        hint = "PixelFlow draws the nearest of opaque, plain triangles at one sample; --machine larrabee renders others"
        raise InputError(Fault(f"not drawn on PixelFlow here: {'; '.join(wanted)}", hint=hint))
