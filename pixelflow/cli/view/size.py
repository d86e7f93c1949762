"""The size of a picture, as an option says it."""

from __future__ import annotations

import argparse

__all__ = ["picture_size", "picture_sizes"]

_MOST_PIXELS = 4096
_MOST_SIZES = 16


def picture_size(text: str) -> tuple[int, int]:
    """Return width and height of WxH, 1 to 4096 each; for argparse."""
    width, _, height = text.partition("x")
    numbers = [int(word) if word.isascii() and word.isdigit() and len(word) < 6 else 0 for word in (width, height)]
    if not all(1 <= each <= _MOST_PIXELS for each in numbers):
        raise argparse.ArgumentTypeError(f"expected WxH, 1 to {_MOST_PIXELS} each (640x480); found {text[:40]!r}")
    return numbers[0], numbers[1]


def picture_sizes(text: str) -> tuple[tuple[int, int], ...]:
    """Return sizes that stand with commas, each once, at most 16; for argparse."""
    found = tuple(dict.fromkeys(picture_size(each) for each in text.split(",")))
    if len(found) > _MOST_SIZES:
        raise argparse.ArgumentTypeError(f"expected at most {_MOST_SIZES} sizes, found {len(found)}")
    return found
