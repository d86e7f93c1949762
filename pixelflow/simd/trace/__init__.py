"""Traces: the activity of every part of a machine by cycle, for existing viewers.

A machine's tracer turns events into one model (`Trace`); the writers of the three formats know nothing else.
"""

from pixelflow.simd.trace.trace_model import (
    EVERYTHING,
    Category,
    FlowArrow,
    Label,
    Selection,
    Span,
    Trace,
    TraceClock,
    Track,
    TrackKind,
    known_tracks,
    tracks_of_streams,
    unknown_track,
)
from pixelflow.simd.trace.tracer import Tracer

__all__ = [
    "EVERYTHING",
    "Category",
    "FlowArrow",
    "Label",
    "Selection",
    "Span",
    "Trace",
    "TraceClock",
    "Tracer",
    "Track",
    "TrackKind",
    "known_tracks",
    "tracks_of_streams",
    "unknown_track",
]
