"""Tones: a curve that colours go through while they are in the tile, before they are written to memory (6.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError

__all__ = ["ToneCurve"]

_STEPS = 255
_MOST = 100.0


@dataclass(frozen=True, slots=True)
class ToneCurve:
    """Reinhard's curve (2002, equation 4): x (1 + x / white^2) / (1 + x) of x = exposure times a channel from 0 to 1.

    Raises InputError for values outside 0.01 to 100.
    """

    exposure: float = 3.0
    white: float = 3.0
    """What becomes white."""

    def __post_init__(self) -> None:
        for name in ("exposure", "white"):
            if not 1 / _MOST <= getattr(self, name) <= _MOST:
                raise InputError(Fault(f"{name} {getattr(self, name)}", hint=f"allowed: 0.01 to {_MOST:g}"))

    @property
    def parameters(self) -> dict[str, int]:
        """Those of `tones.mc`: bits of float32."""
        factors = {"EXPOSURE": self.exposure / _STEPS, "SQUARE": 1 / self.white**2}
        return {name: int(np.float32(value).view(np.uint32)) for name, value in factors.items()}

    def of(self, colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return colours with these tones, in float64."""
        x = colours * (self.exposure / _STEPS)
        return np.rint(_STEPS * np.minimum(x * (1 + x / self.white**2) / (1 + x), 1)).astype(np.uint8)
