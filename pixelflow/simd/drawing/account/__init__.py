"""Account of a picture: what a machine did for it, in terms that hold for every one, and on what its figures rest."""

from pixelflow.simd.drawing.account.drawn import (
    ALL_PARTS,
    EQUAL,
    Bound,
    Comparison,
    DrawnFrame,
    FreeWork,
    Picture,
    PictureDifference,
)
from pixelflow.simd.drawing.account.grounds import FigureStanding, Ground, HowCounted, Origin, Work, ground_of
from pixelflow.simd.drawing.account.left_out import free_in_all, free_lines, free_object, free_standing

__all__ = [
    "ALL_PARTS",
    "EQUAL",
    "Bound",
    "Comparison",
    "DrawnFrame",
    "FigureStanding",
    "FreeWork",
    "Ground",
    "HowCounted",
    "Origin",
    "Picture",
    "PictureDifference",
    "Work",
    "free_in_all",
    "free_lines",
    "free_object",
    "free_standing",
    "ground_of",
]
