"""Traces: what every part of the machine did in which cycle, for viewers made by others.

One builder (`Tracer`) turns events into one model (`Trace`); the writers of the three formats know nothing else.
"""

from pixelflow.observe.trace.faults import Checked
from pixelflow.observe.trace.model import Category, Clock, Flow, Label, Span, Trace, Track, TrackKind
from pixelflow.observe.trace.selection import EVERYTHING, Selection, known_tracks, unknown_track
from pixelflow.observe.trace.tracer import Tracer

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
    "Tracer",
    "Track",
    "TrackKind",
    "known_tracks",
    "unknown_track",
]
