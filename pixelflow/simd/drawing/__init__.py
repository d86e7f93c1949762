"""What a triangle on the screen means, to the last bit, on every machine that draws it."""

from pixelflow.simd.drawing.clip_space import perspective
from pixelflow.simd.drawing.drawn import ALL_PARTS, Comparison, DrawnFrame, PictureDifference
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
from pixelflow.simd.drawing.framebuffer import Framebuffer, layers_of, places_of, turns_of
from pixelflow.simd.drawing.planes import COLOUR_FRACTION, DEPTH_FRACTION, Planes, planes_of, texture_planes_of
from pixelflow.simd.drawing.reference import NOTHING, Picture, covered, draw, nearest
from pixelflow.simd.drawing.spans import Edges, RowSpans, covered_samples, edges_of, spans_of
from pixelflow.simd.drawing.triangles import (
    CENTRE,
    DEPTH_GUARD,
    FAR,
    REACH,
    SAMPLES,
    SUBPIXELS,
    TEXEL,
    ScreenTriangles,
    doubled_areas,
    snap,
)

__all__ = [
    "ALL_PARTS",
    "CENTRE",
    "COLOUR_FRACTION",
    "DEPTH_FRACTION",
    "DEPTH_GUARD",
    "FAR",
    "NOTHING",
    "REACH",
    "SAMPLES",
    "SUBPIXELS",
    "TEXEL",
    "Blend",
    "Comparison",
    "DepthTest",
    "Draw",
    "DrawnFrame",
    "Edges",
    "Frame",
    "Framebuffer",
    "Picture",
    "PictureDifference",
    "Planes",
    "RowSpans",
    "ScreenTriangles",
    "State",
    "Stencil",
    "StencilStep",
    "StencilTest",
    "Texture",
    "covered",
    "covered_samples",
    "doubled_areas",
    "draw",
    "draw_frame",
    "edges_of",
    "layers_of",
    "nearest",
    "perspective",
    "places_of",
    "planes_of",
    "snap",
    "spans_of",
    "texture_planes_of",
    "turns_of",
]
