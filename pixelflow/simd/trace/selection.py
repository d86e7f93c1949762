"""Which part of a run a trace shows: a window of cycles, and tracks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pixelflow.simd.errors import nearest
from pixelflow.simd.trace.model import Track, TrackKind

__all__ = ["EVERYTHING", "Selection", "asks_for_traffic", "known_tracks", "tracks_of_streams", "unknown_track"]

_MOST_CYCLES = 1 << 63
_TRAFFIC = (TrackKind.WIRE, TrackKind.QUEUE)


@dataclass(frozen=True, slots=True)
class Selection:
    """Cycles from ``begin`` up to ``end`` (None: to the last one), of the tracks that ``only`` names (empty: all).

    A name may hold ``*`` and ``?``; brackets stand for themselves, ``tasic[2]``. Wires and queues are shown only where
    a name asks for them: they carry more items than the rest of the machine has events.
    """

    begin: int = 0
    end: int | None = None
    only: tuple[str, ...] = ()

    @classmethod
    def of(cls, window: str | None, only: Iterable[str] = ()) -> Selection:
        """Return the selection of a window ``A:B``; raises ValueError where it is none, or holds no cycle."""
        if window is None:
            return cls(only=tuple(only))
        found = re.fullmatch(r"\s*(\d+(?:_\d+)*)?\s*:\s*(\d+(?:_\d+)*)?\s*", window, re.ASCII)
        if found is None:
            raise ValueError("expected two cycles A:B, of which either may be missing")
        begin, end = (int(text) if text else None for text in found.groups())
        if max(begin or 0, end or 0) >= _MOST_CYCLES:
            raise ValueError("no run has that many cycles")
        if end is not None and end <= (begin or 0):
            raise ValueError("the window is empty: it holds the cycles from A up to B, without B")
        return cls(begin or 0, end, tuple(only))

    def wants(self, track: Track) -> bool:
        """Whether the trace shows the track."""
        if track.kind in _TRAFFIC:
            return any(asks_for_traffic(pattern, track.kind) and matches(pattern, track.name) for pattern in self.only)
        return not self.only or any(matches(pattern, track.name) for pattern in self.only)

    def unmet(self, tracks: Iterable[Track]) -> list[str]:
        """Return the patterns that name none of these tracks."""
        names = [track.name for track in tracks]
        return [pattern for pattern in self.only if not any(matches(pattern, name) for name in names)]

    def clip(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the part of a span that lies in the window, None where no part does."""
        if start == end:
            return (start, end) if self.holds(start) else None
        start, end = max(start, self.begin), end if self.end is None else min(end, self.end)
        return (start, end) if start < end else None

    def holds(self, cycle: int) -> bool:
        """Whether a cycle lies in the window."""
        return self.begin <= cycle and (self.end is None or cycle < self.end)


EVERYTHING = Selection()


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern with ``*`` and ``?`` names a track; upper and lower case are the same."""
    translated = "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
    return re.fullmatch(translated, name, re.IGNORECASE) is not None


def asks_for_traffic(pattern: str, *kinds: TrackKind) -> bool:
    """Whether a pattern is one for tracks of these kinds, wires or queues; by default for any of them."""
    return any(matches(kind.value.format("*"), pattern) for kind in kinds or _TRAFFIC)


def tracks_of_streams(streams: Iterable[str]) -> list[Track]:
    """Return every track that a run of these streams may have on any machine, wires and queues left out."""
    of_streams = (TrackKind.STREAM, TrackKind.STAGES, TrackKind.ROUTINES)
    return [Track(TrackKind.RUNS), *(Track(kind, stream) for stream in streams for kind in of_streams)]


def known_tracks(streams: Iterable[str], modules: int, paths: Iterable[str], semaphores: int) -> list[Track]:
    """Return every track that a run of such a machine may have, wires and queues left out."""
    numbers = [str(module) for module in range(modules)]
    return [
        *tracks_of_streams(streams),
        *(Track(kind, number) for kind in (TrackKind.UNIT, TrackKind.ENABLED) for number in numbers),
        *(Track(TrackKind.PATH, path) for path in paths),
        *(Track(TrackKind.COUNTER, str(number)) for number in range(semaphores)),
    ]


def unknown_track(pattern: str, known: Iterable[Track]) -> str | None:
    """Return None where a pattern names a known track, wires or queues, else what is wrong, with the nearest name."""
    names = [track.name for track in known]
    if any(matches(pattern, name) for name in names) or asks_for_traffic(pattern):
        return None
    found = nearest(pattern, names)
    return f"no track has this name{f'; did you mean {found}?' if found else ''}"
