"""Numbers of frames on the command line."""

from __future__ import annotations

import argparse
import re

__all__ = ["frame_numbers"]


def frame_numbers(text: str) -> tuple[int, ...]:
    """Return the frames of ``0,10,20`` or ``0-59``, in order; raises ArgumentTypeError for other texts."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part, re.ASCII)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"expected frames as 0,10,20 or 0-59; found {text[:40]!r}")
        found |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(found))
