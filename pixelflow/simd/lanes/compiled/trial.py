"""A trial of native code: does this host compile it, and does it give the bits that it must give?"""

from __future__ import annotations

from typing import Any

import numpy as np

from pixelflow.simd.lanes.algebra import Algebra
from pixelflow.simd.lanes.compiled.engine import CompiledEngine
from pixelflow.simd.lanes.shape import Shape

__all__ = ["trial"]

_SHAPE = Shape(lanes=64, group=32, rows=2, words=(), carries=("c",), masks=("m",))


def trial() -> bool:
    """Return whether an addition with carry and mask comes out right; raises whatever LLVM raises."""
    engine = CompiledEngine(_SHAPE)
    engine.falls_back = False
    lane = np.arange(64)
    rows = np.array([lane * 5, lane * 7 + 3], np.uint8)
    carry, mask = lane % 3 == 0, lane % 2 == 0
    engine.set_rows(0, rows)
    engine.set_bit("c", carry)
    engine.set_bit("m", mask)

    def meaning(lanes: Algebra[Any, Any]) -> None:
        total, out = lanes.add(lanes.load(0), lanes.load(1), lanes.flag("c"))
        lanes.store(0, total, lanes.flag("m"))
        lanes.set_flag("c", out, lanes.flag("m"))

    engine.run([engine.prepare(meaning)])
    total = rows.astype(int).sum(axis=0) + carry
    right = np.array_equal(engine.get_rows(0, 1)[0], np.where(mask, total & 0xFF, rows[0]))
    return bool(right and np.array_equal(engine.get_bit("c"), np.where(mask, total > 0xFF, carry)))
