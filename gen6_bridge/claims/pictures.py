"""Measure of the claim about dispatch: threads whose registers a rasterizer has filled draw what integers draw."""

from __future__ import annotations

import numpy as np

from gen6_bridge.claims.bench import Printed
from gen6_bridge.drawing import draw_on_gen6
from pixelflow.evidence import Bench, Measured
from pixelflow.simd.drawing import Draw, Frame, ScreenTriangles, State, Texture, draw_frame, snap

__all__ = ["MEASURES"]

_WIDTH, _HEIGHT, _TRIANGLES = 40, 24, 6


def _triangles(source: np.random.Generator) -> ScreenTriangles:
    points, depths = source.uniform(-8, 48, (_TRIANGLES, 3, 2)), source.uniform(0, 1, (_TRIANGLES, 3))
    colours, places = source.integers(0, 256, (_TRIANGLES, 3, 3)), source.uniform(-40, 40, (_TRIANGLES, 3, 2))
    return snap(points, depths, colours, places)


def dispatch(bench: Bench, printed: Printed) -> Measured:
    """Draw random triangles, plain ones and ones with a texture, by threads that know nothing but their payload."""
    source = np.random.default_rng(38)
    plain, textured = _triangles(source), _triangles(source)
    texture = Texture(source.integers(0, 256, (16, 8, 4)).astype(np.uint8))
    draws = (Draw("plain", plain), Draw("textured", textured, State(texture=texture)))
    frame = Frame(_WIDTH, _HEIGHT, (9, 99, 199), draws)
    drawn, wanted = draw_on_gen6(frame), draw_frame(frame)
    wrong = int((drawn.picture.colours != wanted.colours).any(axis=-1).sum())
    lit = int((wanted.colours != frame.background).any(axis=-1).sum())
    text = f"{wrong} of {_WIDTH * _HEIGHT} pixels are others than by integers of 64 bits; {lit} are drawn"
    return Measured(text, {"wrong": wrong})


MEASURES = {"dispatch": dispatch}
