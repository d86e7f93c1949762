"""Fog between layers: what colours lose on their way from one sorted layer to the next, and to the eye (6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.drawing import FAR, Blend, Draw
from pixelflow.simd.errors import Fault, InputError

__all__ = ["LayerFog"]

_THINNEST, _THICKEST = 0.01, 20.0
_TERMS = ("FIRST", "SECOND", "THIRD", "FOURTH", "FIFTH", "SIXTH")
_EXP2 = np.polynomial.Chebyshev.interpolate(lambda x: np.exp2((x + 1) / 2), len(_TERMS) - 1)
_POLYNOMIAL: NDArray[np.float32] = np.array(
    _EXP2.convert(kind=np.polynomial.Polynomial)(np.polynomial.Polynomial([-1.0, 2.0])).coef, np.float32
)
"""Of 2^x for x from 0 to 1, by Chebyshev's nodes."""


@dataclass(frozen=True, slots=True)
class LayerFog:
    """Fog of the same density everywhere: of light from a depth, exp(-thickness * depth / farthest depth) is left.

    Depth is that of the screen, which is a distance where the camera is orthographic. Raises InputError for a
    thickness outside 0.01 to 20 and for no colour.
    """

    thickness: float = 1.5
    colour: tuple[int, int, int] = (200, 205, 215)

    def __post_init__(self) -> None:
        if not _THINNEST <= self.thickness <= _THICKEST:
            given = Fault(f"fog of thickness {self.thickness}", hint=f"allowed: {_THINNEST} to {_THICKEST:g}")
            raise InputError(given)
        if len(self.colour) != 3 or not all(0 <= each <= 255 for each in self.colour):
            raise InputError(Fault(f"fog of colour {self.colour}", hint="red, green, blue from 0 to 255"))

    @property
    def parameters(self) -> dict[str, int]:
        """Those of `lists.mc`: bits of float32, and a colour with red in the low byte."""
        floats: dict[str, float] = {"DENSITY": -self.thickness / np.log(2) / FAR}
        floats |= {name: float(value) for name, value in zip(_TERMS, _POLYNOMIAL, strict=True)}
        red, green, blue = self.colour
        bits = {name: int(np.float32(value).view(np.uint32)) for name, value in floats.items()}
        return {"FOG": 1, "COLOUR": red | green << 8 | blue << 16, **bits}

    @property
    def error(self) -> float:
        """How far off what is left may be at most, of 1, before it is rounded to 255 parts.

        The logarithm x, of size X at most, is off by 2^-23 X (a product and a constant, each rounded), so that 2^x is
        by X 2^-X ln 2 times that, where X 2^-X is 0.54 at most; what lies between whole numbers by 2^-25, which it is
        rounded by where x is near 0; the polynomial by what it is on a fine grid, and by half of a unit of its values
        up to 2 for each of its multiply-adds; the product with 255 by half of a unit of what is left.
        """
        grid = np.linspace(0, 1, 4097)
        off = np.abs(np.polynomial.Polynomial(_POLYNOMIAL.astype(float))(grid) - np.exp2(grid)).max()
        return float(np.log(2) * (0.54 * 2.0**-23 + 2.0**-25) + off + len(_TERMS) * 2.0**-24)

    def left(self, depth: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of light that comes through fog of some depth."""
        return np.exp(-self.thickness * depth / FAR)

    def check(self, draws: Sequence[Draw]) -> None:
        """Raise InputError for draws none of which is sorted; that others come before those that are is a frame's."""
        if not any(draw.state.blend is Blend.SORTED for draw in draws):
            raise InputError(Fault("fog between layers, and no draw is sorted", hint="blend = sorted"))
