"""What a triangle on the screen means, to the last bit, on every machine that draws it."""

from pixelflow.drawing.planes import (
    CENTRE,
    COLOUR_FRACTION,
    DEPTH_FRACTION,
    SAMPLES,
    Edges,
    Planes,
    edges_of,
    planes_of,
)
from pixelflow.drawing.reference import Picture, covered, draw
from pixelflow.drawing.triangles import DEPTH_GUARD, FAR, REACH, SUBPIXELS, ScreenTriangles, snap

__all__ = [
    "CENTRE",
    "COLOUR_FRACTION",
    "DEPTH_FRACTION",
    "DEPTH_GUARD",
    "FAR",
    "REACH",
    "SAMPLES",
    "SUBPIXELS",
    "Edges",
    "Picture",
    "Planes",
    "ScreenTriangles",
    "covered",
    "draw",
    "edges_of",
    "planes_of",
    "snap",
]
