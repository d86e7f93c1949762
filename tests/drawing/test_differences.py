"""Pictures against the expected one: errors, and differences allowed to a machine with different arithmetic."""

import re

import pytest

from pixelflow.simd.drawing import DrawnFrame, Picture, PictureDifference


def _side(picture: Picture, own: str) -> DrawnFrame:
    return DrawnFrame("toy", 1, 1, 1.0, 1, 1, {}, {}, 0.0, None, {}, picture, own_arithmetic=own)


def _pictures() -> tuple[Picture, Picture]:
    expected = Picture.empty(4, 3, (10, 20, 30))
    drawn = Picture(expected.colours.copy(), expected.depths.copy())
    drawn.colours[1, 2] = (10, 17, 31)
    drawn.depths[0, 0] -= 1
    return expected, drawn


def test_equal_pictures_are_equal():
    expected, _ = _pictures()
    found = PictureDifference.of(_side(expected, ""), expected)
    assert (found.colours, found.depths, found.wrong) == (0, 0, False)


def test_a_difference_without_a_reason_is_wrong():
    expected, drawn = _pictures()
    found = PictureDifference.of(_side(drawn, ""), expected)
    assert (found.colours, found.depths, found.largest, found.pixels) == (1, 1, 3, 12)
    assert found.wrong and found.text == "PIXELS DIFFER"


@pytest.mark.parametrize("own", ["edges are float64"])
def test_a_difference_with_a_reason_is_counted_and_said(own):
    expected, drawn = _pictures()
    found = PictureDifference.of(_side(drawn, own), expected)
    assert not found.wrong
    assert re.findall(r"\d+", found.text) == ["12", "1", "3", "255", "1", "64"]
