"""The data of triangles as the programs of the back end read them: planes in lanes, colours as words.

They are worked out here, in numpy's integers, and not by a program: what they cost is counted nowhere.
"""

from __future__ import annotations

import numpy as np

from larrabee_bridge.backend.programs import constants_of
from pixelflow.simd.drawing import CENTRE, SAMPLES, Draw, planes_of, texture_planes_of

__all__ = ["triangle_words"]

_LANES = 16
_COLOUR_SHIFT = 8
"""Colours have planes of 24 bits; moved up, they wrap round as the words do."""


def triangle_words(draw: Draw, which: np.ndarray, samples: int, textured: bool) -> np.ndarray:
    """Return the words of some of a draw's triangles, laid out as ``layout.mc`` says: uint32[triangle, word]."""
    layout = constants_of(samples, 0, textured)
    triangles = draw.triangles.part(which)
    places = (CENTRE,) if samples == 1 else SAMPLES
    found = [planes_of(triangles, place) for place in places]
    abc = np.stack([[planes.a, planes.b, planes.c] for planes in found], axis=-1)  # [abc, triangle, plane, sample]
    abc[:, :, 1:] <<= _COLOUR_SHIFT
    if textured:
        texture = [texture_planes_of(triangles, place) for place in places]
        abc = np.concatenate([abc, np.stack([[planes.a, planes.b, planes.c] for planes in texture], axis=-1)], axis=2)
    lanes = abc.reshape(3, len(triangles), -1)
    words = np.zeros((len(triangles), layout["TRIANGLE_BYTES"] // 4), np.uint32)
    for line in range(layout["SETS"]):
        part = lanes[:, :, _LANES * line : _LANES * (line + 1)]
        for row in range(3):
            start = _LANES * (3 * line + row)
            words[:, start : start + part.shape[2]] = part[row].astype(np.uint32)
    red, green, blue = triangles.colours[:, 0].T
    words[:, layout["COLOUR"] // 4] = red | green << 8 | blue << 16
    return words
