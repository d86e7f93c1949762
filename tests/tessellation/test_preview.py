"""Does the picture show the surface?"""

from __future__ import annotations

import builtins

import numpy as np
import pytest

from pixelflow.simd.errors import InputError
from tessellation import Patch, build_mesh
from tessellation.picture.lighting import CLAY
from tessellation.picture.preview import View, picture, png
from tests.tessellation.models import ideal_samples

SMALL = View(width=160, height=120)


def test_the_teapot_fills_its_frame(teapot):
    image = picture(build_mesh(ideal_samples(list(teapot), [8] * 32), weld=True), SMALL)
    assert image.shape == (120, 160, 3) and image.dtype == np.uint8
    clay = image[..., 0].astype(int) > image[..., 2].astype(int) + 25
    rows, columns = np.flatnonzero(clay.any(axis=1)), np.flatnonzero(clay.any(axis=0))
    assert 0.7 < np.ptp(columns) / 160 < 0.95 and columns[0] > 5 and columns[-1] < 154
    assert abs((columns[0] + columns[-1]) / 2 - 80) < 4 and rows[0] > 5 and rows[-1] < 114
    assert 0.25 < clay.mean() < 0.6
    assert image[clay, 0].max() > 255 * (CLAY[0] * (0.13 + 0.75)) ** (1 / 2.2), "all of the key light arrives somewhere"


def test_both_sides_are_shaded_alike(teapot):
    samples = ideal_samples(list(teapot), [4] * 32)
    inside, outside = (picture(build_mesh(samples, weld=True, outward=flag), SMALL) for flag in (False, True))
    assert np.abs(inside.astype(int) - outside).mean() < 1.0


def test_png_is_a_png(enneper):
    pytest.importorskip("PIL", reason="pillow (extra: image) is not installed")
    data = png(build_mesh(ideal_samples(list(enneper), [4] * 4), weld=True), SMALL)
    assert data.startswith(b"\x89PNG\r\n")


def test_without_pillow_the_message_says_what_to_install(enneper, monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **known):
        if name.startswith("PIL"):
            raise ImportError(name)
        return real(name, *args, **known)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"pip install .*\[image\]"):
        png(build_mesh(ideal_samples(list(enneper), [4] * 4), weld=True), SMALL)


def test_nothing_to_draw_is_an_input_error():
    mesh = build_mesh(ideal_samples([Patch(np.ones((3, 3, 3)))], [4]), weld=True)
    with pytest.raises(InputError, match="nothing to draw"):
        picture(mesh, SMALL)
