"""What a triangle on the screen means, to the last bit, on every machine that draws it."""

from pixelflow.simd.drawing.frame import (
    Blend,
    DepthTest,
    Draw,
    Frame,
    State,
    Stencil,
    StencilStep,
    StencilTest,
    Texture,
)
from pixelflow.simd.drawing.frame_reference import draw_frame
from pixelflow.simd.drawing.planes import (
    CENTRE,
    COLOUR_FRACTION,
    DEPTH_FRACTION,
    SAMPLES,
    Edges,
    Planes,
    edges_of,
    planes_of,
    texture_planes_of,
)
from pixelflow.simd.drawing.reference import Picture, covered, draw
from pixelflow.simd.drawing.triangles import DEPTH_GUARD, FAR, REACH, SUBPIXELS, TEXEL, ScreenTriangles, snap

__all__ = [
    "CENTRE",
    "COLOUR_FRACTION",
    "DEPTH_FRACTION",
    "DEPTH_GUARD",
    "FAR",
    "REACH",
    "SAMPLES",
    "SUBPIXELS",
    "TEXEL",
    "Blend",
    "DepthTest",
    "Draw",
    "Edges",
    "Frame",
    "Picture",
    "Planes",
    "ScreenTriangles",
    "State",
    "Stencil",
    "StencilStep",
    "StencilTest",
    "Texture",
    "covered",
    "draw",
    "draw_frame",
    "edges_of",
    "planes_of",
    "snap",
    "texture_planes_of",
]
