"""The option that says where the camera is, the same for every command that has one."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping

from pixelflow.simd.errors import nearest
from tessellation.picture import (
    CAMERA_PLACES,
    CAMERA_RANGES,
    FARTHEST,
    NEAR_RANGE,
    View,
    camera_contradictions,
)

__all__ = ["CAMERA_TEXT", "camera_words", "view_told"]

_NUMBERS: Mapping[str, tuple[float, float]] = {**CAMERA_RANGES, "near": NEAR_RANGE}

CAMERA_TEXT = (
    "azimuth, elevation, field_of_view in degrees, and zoom (default: "
    "azimuth=-62,elevation=24,field_of_view=28,zoom=1); it moves back until all is in the picture, or stands at "
    "eye=X/Y/Z, looks at look_at=X/Y/Z, and nearer than near=N all is cut away"
)


def view_told(words: Mapping[str, float | tuple[float, float, float]], width: int, height: int) -> View:
    """Return the view that words of `camera_words` say, of a picture of so many pixels."""
    told = {"width": width, "height": height, **words}
    return View(**told)  # type: ignore[arg-type]  # each word is of its field's kind


def camera_words(text: str) -> dict[str, float | tuple[float, float, float]]:
    """Return what an option says of the camera, word by word; raises ArgumentTypeError for what cannot be."""
    found: dict[str, float | tuple[float, float, float]] = {}
    allowed = (*_NUMBERS, *CAMERA_PLACES)
    for part in text.split(","):
        name, _, word = part.partition("=")
        if name not in allowed:
            near = nearest(name, allowed)
            hint = f"did you mean {near}?" if near else f"allowed: {', '.join(allowed)}"
            raise argparse.ArgumentTypeError(f"{name[:40]!r} is nothing of a camera; {hint}")
        if name in found:
            raise argparse.ArgumentTypeError(f"{name}: expected one of each; found {word[:40]!r}")
        found[name] = _place(name, word) if name in CAMERA_PLACES else _within(name, word)
    for message, hint in camera_contradictions(found):
        raise argparse.ArgumentTypeError(f"{message}; {hint}")
    return found


def _within(name: str, word: str) -> float:
    value, (low, high) = _number(word), _NUMBERS[name]
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"{name}: expected a number from {low} to {high}; found {word[:40]!r}")
    return value


def _place(name: str, word: str) -> tuple[float, float, float]:
    values = [_number(each) for each in word.split("/")]
    if len(values) != 3 or not all(-FARTHEST <= each <= FARTHEST for each in values):
        expected = f"X/Y/Z, three numbers from {-FARTHEST} to {FARTHEST}"
        raise argparse.ArgumentTypeError(f"{name}: expected {expected}; found {word[:40]!r}")
    x, y, z = values
    return x, y, z


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
