"""Arrays of an `.npz` archive, each checked before it is kept: its size and its header."""

from __future__ import annotations

import io
import math
import struct
import zipfile
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import InputError
from pixelflow.simd.files import ARRAYS

_LARGEST_DIRECTORY = 1 << 20
"""Bytes of an archive's directory; each entry of it becomes an object."""
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_KINDS = "biufSU"
"""Kinds of elements: truth values, numbers, text; no structures and no Python objects."""
_END = b"PK\x05\x06"
_END_BYTES = 22
_FAR_END = b"PK\x06\x07"
_FAR_END_BYTES = 20


def parse_arrays(data: bytes, refuse: Callable[[str], InputError]) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of an archive's bytes by name.

    Raises what ``refuse`` makes of the reason where it is damaged, holds too much, or anything but plain arrays.
    """
    if not _directory_fits(data):
        raise refuse("is not a numpy .npz archive of plain arrays")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if sum(max(each.file_size, 0) for each in members) > ARRAYS.limit:
                raise refuse(f"holds more than {ARRAYS.shown_limit}, so it is not {ARRAYS.what} of any machine here")
            return {each.filename.removesuffix(".npy"): _array(archive.read(each)) for each in members}
    except InputError:
        raise
    except Exception:  # the library's readers raise whatever the damage leads to
        raise refuse("is not a numpy .npz archive of plain arrays") from None


def _directory_fits(data: bytes) -> bool:
    """Return whether an archive ends as one does, and its directory is not a larger than that of any use."""
    at = data.rfind(_END)
    if at < 0 or len(data) - at < _END_BYTES or data[at - _FAR_END_BYTES : at].startswith(_FAR_END):
        return False
    (size,) = struct.unpack_from("<I", data, at + 12)
    return size <= _LARGEST_DIRECTORY


def _array(content: bytes) -> NDArray[np.generic]:
    """Return the array of a member; raises whatever its damage leads to."""
    stream = io.BytesIO(content)
    shape, by_columns, dtype = _HEADERS[np.lib.format.read_magic(stream)](stream)
    if dtype.kind not in _KINDS or min(shape, default=0) < 0:
        raise ValueError("not a plain array")
    begin = stream.tell()
    if math.prod(shape) * dtype.itemsize != len(content) - begin:
        raise ValueError("the size of the array is not that of its bytes")
    values = np.frombuffer(content, dtype, offset=begin).copy()
    return values.reshape(shape, order="F" if by_columns else "C")
