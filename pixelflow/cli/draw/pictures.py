"""Pictures that commands write, and the options that describe them."""

from __future__ import annotations

import argparse
import os
from pathlib import PurePath

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.output import STANDARD_STREAM, check_drawing, check_writable, output_file
from pixelflow.simd.drawing import Picture
from pixelflow.simd.errors import Fault, InputError, Place
from tessellation.picture.preview import require_pillow
from tessellation.scenes import files_of

__all__ = ["check_figure", "check_picture", "picture_size", "write_picture"]

_FIGURES = (".png", ".svg")
_MOST_PIXELS = 4096


def check_picture(scene: str, path: str) -> None:
    """Raise UsageError or InputError where a picture of a scene could not be written; call it before long work.

    What the scene is made of is not overwritten; so a scene that cannot be read is refused here.
    """
    if path == STANDARD_STREAM or PurePath(path).suffix.lower() != ".png":
        raise UsageError("-o", "the picture is a PNG file", "name a file that ends in .png")
    require_pillow()
    for file in files_of(scene):
        if os.path.exists(path) and os.path.exists(file) and os.path.samefile(file, path):
            raise InputError(Fault("the scene is made of this file; it will not be overwritten", Place(path)))
    check_writable(path)


def check_figure(path: str) -> None:
    """Raise UsageError, InputError or MissingPackageError where a figure could not be drawn; call it before work."""
    if PurePath(path).suffix.lower() not in _FIGURES:
        raise UsageError("--figure", "the figure is a .png or a .svg file")
    check_drawing()
    check_writable(path)


def write_picture(path: str, picture: Picture) -> None:
    """Write the colours of a picture as PNG."""
    from PIL import Image

    with output_file(path, binary=True) as stream:
        Image.fromarray(picture.colours, "RGB").save(stream, format="PNG")


def picture_size(text: str) -> tuple[int, int]:
    """Return width and height of WxH, 1 to 4096 each; for argparse."""
    width, _, height = text.partition("x")
    numbers = [int(word) if word.isascii() and word.isdigit() and len(word) < 6 else 0 for word in (width, height)]
    if not all(1 <= each <= _MOST_PIXELS for each in numbers):
        raise argparse.ArgumentTypeError(f"expected WxH, 1 to {_MOST_PIXELS} each (640x480); found {text[:40]!r}")
    return numbers[0], numbers[1]
