"""Bars over time: what share of each interval parts of a machine were busy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from pixelflow.simd.dashboard.cells import CellField, count, title

__all__ = ["LEVELS", "BusyTrack", "Utilisation", "utilisation"]

LEVELS = " ▁▂▃▄▅▆▇█"
"""Bars of one character, from none to full."""


_WIDE = 40
"""Columns from which on the title has a sentence."""


@dataclass(frozen=True, slots=True)
class BusyTrack:
    """How much of each interval something was busy: 0 to 1, or None for what was not simulated."""

    name: str
    shares: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Tracks over time, in intervals of equal length."""

    cycles: int
    """Length of an interval."""
    tracks: tuple[BusyTrack, ...]


def utilisation(over_time: Utilisation | None, width: int, lines: int, styles: Mapping[str, str]) -> list[Text]:
    """Return bars over time, one track under the other, from the beginning of the run to the cycle of the frame.

    Bars are as high as the lines allow. ``styles`` are the colours of tracks that have one.
    """
    if over_time is None or lines < 2:
        return []
    tracks = over_time.tracks[: lines - 1]
    label = max(len(track.name) for track in tracks) + 1
    size = max(1, width - label)
    step = max(1, -(-max(len(track.shares) for track in tracks) // size))
    length = step * over_time.cycles
    bar = f"{count(length)} cycle{'s' * (length != 1)}"
    said = f"a bar: {bar}" if width >= _WIDE else bar
    head = [CellField("utilisation", "bold"), CellField(said, "dim")]
    if len(tracks) < len(over_time.tracks):
        head.append(CellField(f"… {', '.join(track.name for track in over_time.tracks[len(tracks) :])}"))
    done = [title(head, width)]
    high = max(1, (lines - 1) // len(tracks))
    for track in tracks:
        rows = _bars(track, size, step, high)
        for index, row in enumerate(rows):
            text = Text(no_wrap=True)
            text.append(f"{track.name if index == high - 1 else '':<{label}}", f"bold {styles.get(track.name, '')}")
            text.append(row, styles.get(track.name, ""))
            done.append(text)
    return done


def _bars(track: BusyTrack, width: int, step: int, high: int) -> list[str]:
    """Return the bars of a track as ``high`` lines of characters, the upper first."""
    levels = [_level(track.shares[at : at + step], high) for at in range(0, len(track.shares), step)]
    # Few intervals are drawn wider, so that the whole width is used.
    spread = [levels[column * len(levels) // width] for column in range(width)] if len(levels) < width else levels
    return ["".join(LEVELS[max(0, min(8, level - 8 * row))] for level in spread) for row in range(high - 1, -1, -1)]


def _level(shares: Sequence[float | None], high: int) -> int:
    known = [share for share in shares if share is not None]
    if not known:
        return 0
    mean = sum(known) / len(known)
    return max(1, round(mean * 8 * high)) if mean else 0
