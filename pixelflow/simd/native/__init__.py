"""Native code beside the lanes: functions from text, and automata that walk streams of words by tables."""

from pixelflow.simd.native.functions import functions, works_natively
from pixelflow.simd.native.transducer import Transducer, Transition

__all__ = ["Transducer", "Transition", "functions", "works_natively"]
