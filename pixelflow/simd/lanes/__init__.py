"""Lanes: one algebra, several engines, all giving the same bits.

Nothing here knows what machine it serves, what an instruction is called, or what time is.
"""

from pixelflow.simd.lanes.choice import AUTO, ENGINES, TABLE, Choice, Engines, Offer, available, choose, make_engine
from pixelflow.simd.lanes.shape import Shape

__all__ = ["AUTO", "ENGINES", "TABLE", "Choice", "Engines", "Offer", "Shape", "available", "choose", "make_engine"]
