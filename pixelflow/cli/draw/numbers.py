"""Numbers of frames on the command line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from pixelflow.cli.shell.arguments import UsageError

__all__ = ["frame_numbers", "frames_there"]


def frame_numbers(text: str) -> tuple[int, ...]:
    """Return the frames of ``0,10,20`` or ``0-59``, in order; raises ArgumentTypeError for other texts."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part, re.ASCII)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"expected frames as 0,10,20 or 0-59; found {text[:40]!r}")
        found |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(found))


def frames_there(chosen: Sequence[int] | None, scene: str, frames: int) -> Sequence[int]:
    """Return the ``chosen`` frames of a scene that has so many, or all; raises UsageError for one it does not have."""
    if chosen and chosen[-1] >= frames:
        allowed = f"0 to {frames - 1}" if frames > 1 else "0 alone; it does not move"
        raise UsageError("--frames", f"{scene[:60]} has no frame {chosen[-1]}", f"allowed: {allowed}")
    return chosen or range(frames)
