"""Pictures as texels: the one that ships here, and files that Pillow reads."""

from __future__ import annotations

import io
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError, MissingPackageError, Place
from pixelflow.simd.files import TEXTURE, read_bytes

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["CHECKER", "checker", "read_texels"]

CHECKER = "checker"
"""The texture that ships here."""
_CHECKER_SIDE = 64
_CHECKER_FIELD = 8


def checker() -> NDArray[np.uint8]:
    """Return the texture that ships here, white and blue fields: uint8[64, 64, rgba]."""
    at = np.arange(_CHECKER_SIDE) // _CHECKER_FIELD
    light = (at + at[:, None]) % 2 == 0
    texels = np.full((_CHECKER_SIDE, _CHECKER_SIDE, 4), 255, np.uint8)
    texels[~light] = (90, 110, 150, 255)
    return texels


def read_texels(path: Path, largest: int, allowed: str) -> NDArray[np.uint8]:
    """Return the texels of a picture file, uint8[row, column, rgba]; neither side has more than ``largest``.

    ``allowed`` says which sizes are. Raises InputError that names the file, and MissingPackageError without Pillow.
    """
    try:
        from PIL import Image, UnidentifiedImageError

        content = read_bytes(path, TEXTURE)
        # Pillow's own limit is of pictures that are decoded.
        with (
            warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning),
            Image.open(io.BytesIO(content)) as image,
        ):
            if max(image.size) > largest:  # before it is decoded
                raise InputError(Fault(f"a texture of {image.width}x{image.height} texels", hint=allowed))
            return _texels(image)
    except ImportError:
        what = "reading textures needs Pillow, which is not installed"
        raise MissingPackageError(what, "image", Place(str(path))) from None
    except InputError as error:
        raise InputError(replace(fault, place=Place(str(path))) for fault in error.faults) from None
    except UnidentifiedImageError:  # its message has an address of memory
        raise InputError(Fault("not a picture that can be read: no format that is known", Place(str(path)))) from None
    except Exception as error:  # the library's readers raise whatever the damage leads to
        raise InputError(Fault(f"not a picture that can be read: {error}"[:300], Place(str(path)))) from None


def _texels(image: Image) -> NDArray[np.uint8]:
    """Return the texels of a picture, uint8[row, column, rgba]: of 16-bit grey ones the upper 8 bits."""
    if image.mode.startswith("I"):
        grey = (np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)
        return np.stack([grey, grey, grey, np.full_like(grey, 255)], axis=-1)
    return np.array(image.convert("RGBA"), np.uint8)
