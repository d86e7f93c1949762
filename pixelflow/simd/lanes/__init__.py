"""Lanes: one algebra, several engines, all giving the same bits.

Nothing here knows what machine it serves, what an instruction is called, or what time is.
"""

from pixelflow.simd.lanes.engine import (
    AUTO,
    ENGINES,
    TABLE,
    Choice,
    Engines,
    Offer,
    Shape,
    available,
    choose,
    make_engine,
)

__all__ = ["AUTO", "ENGINES", "TABLE", "Choice", "Engines", "Offer", "Shape", "available", "choose", "make_engine"]
