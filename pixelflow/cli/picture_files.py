"""Pictures that commands write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from pixelflow.cli.screen import STANDARD_STREAM, check_writable, output_file
from pixelflow.simd.drawing import Picture
from pixelflow.simd.errors import Fault, InputError, Place, UsageError
from pixelflow.simd.report import RasterImage
from tessellation.picture.preview import require_pillow
from tessellation.scenes import files_of

STILL, ANIMATED = (".png",), (".png", ".gif")
"""Endings of the files of pictures."""


def check_picture(scene: str | None, path: str, endings: Sequence[str] = STILL, option: str = "-o") -> None:
    """Raise UsageError or InputError where a picture could not be written; call it before long work.

    The files of ``scene`` are not overwritten; so a scene that cannot be read is refused here.
    """
    if path == STANDARD_STREAM or PurePath(path).suffix.lower() not in endings:
        kinds = " or ".join(each[1:].upper() for each in endings)
        raise UsageError(option, f"the picture is a {kinds} file", f"name a file that ends in {' or '.join(endings)}")
    require_pillow()
    for file in () if scene is None else files_of(scene):
        if os.path.exists(path) and os.path.exists(file) and os.path.samefile(file, path):
            raise InputError(Fault("the scene is made of this file; it will not be overwritten", Place(path)))
    check_writable(path)


def write_picture(path: str, picture: Picture) -> None:
    """Write the colours of a picture as PNG, in half the usual time with an eighth more bytes."""
    from PIL import Image

    with output_file(path, binary=True) as stream:
        Image.fromarray(picture.colours, "RGB").save(stream, format="PNG", compress_level=3)


def write_map(path: str, image: RasterImage) -> None:
    """Write a map of PEs as PNG, a square of pixels for each PE."""
    from PIL import Image

    pixels = np.frombuffer(image.data, np.uint8).reshape(image.height, image.width)
    with output_file(path, binary=True) as stream:
        enlarged = pixels.repeat(image.scale, axis=0).repeat(image.scale, axis=1)
        Image.fromarray(enlarged, "L").save(stream, format="PNG")


def write_animation(path: str, pictures: Sequence[NDArray[np.uint8]], milliseconds: int) -> None:
    """Write pictures, uint8[row, column, rgb], as an animated PNG or GIF that runs again and again."""
    from PIL import Image

    first, *rest = [Image.fromarray(picture, "RGB") for picture in pictures]
    kind = "GIF" if PurePath(path).suffix.lower() == ".gif" else "PNG"
    with output_file(path, binary=True) as stream:
        first.save(stream, format=kind, save_all=True, append_images=rest, duration=milliseconds, loop=0)
