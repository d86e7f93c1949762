"""Compressed textures against float64 and against Pillow's decoder of the same blocks; what is refused."""

import io
import struct

import numpy as np
import pytest

from larrabee_bridge.kernels.compressed import bilinear, decoded, filter_compressed
from larrabee_bridge.kernels.filtering import scattered_coordinates

BLOCKS = np.random.default_rng(2).integers(0, 1 << 32, (8, 16, 2), dtype=np.uint32)


def test_samples_are_those_of_float64() -> None:
    places = scattered_coordinates(8, 64, 32) * 3 - 40
    found, run = filter_compressed(BLOCKS, places)
    np.testing.assert_allclose(found, bilinear(decoded(BLOCKS), places), atol=8 * 2.0**-24)
    assert len(run.pieces) == 2


def test_texels_are_those_of_pillow() -> None:
    """A DDS file of the same blocks, opened by Pillow, which rounds colours to 8 bits twice: 2 of 255 at most."""
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    height, width = 32, 64
    head = struct.pack("<4s7I44x", b"DDS ", 124, 0x81007, height, width, BLOCKS.nbytes, 0, 0)
    head += struct.pack("<2I4s5I", 32, 4, b"DXT1", 0, 0, 0, 0, 0) + struct.pack("<5I", 0x1000, 0, 0, 0, 0)
    picture = np.asarray(image.open(io.BytesIO(head + BLOCKS.tobytes())).convert("RGBA"))
    y, x = np.mgrid[0:height, 0:width].reshape(2, -1)
    found, _ = filter_compressed(BLOCKS, np.stack([x, y], axis=1) + 0.5)
    steps = np.abs(found.reshape(height, width, 4) * 255 - picture)
    assert steps[..., 3].max() == 0 and steps.max() <= 2
