"""Traces: what every part of the machine did in which cycle, for viewers made by others.

A machine's tracer turns events into one model (`Trace`); the writers of the three formats know nothing else.
"""

from pixelflow.simd.trace.faults import Checked
from pixelflow.simd.trace.model import Category, Clock, Flow, Label, Span, Trace, Track, TrackKind
from pixelflow.simd.trace.selection import EVERYTHING, Selection, known_tracks, unknown_track

__all__ = [
    "EVERYTHING",
    "Category",
    "Checked",
    "Clock",
    "Flow",
    "Label",
    "Selection",
    "Span",
    "Trace",
    "Track",
    "TrackKind",
    "known_tracks",
    "unknown_track",
]
