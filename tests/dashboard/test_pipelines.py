"""How frames of boxes and wires look: the stored ones at three sizes, and what no size may do."""

import re

import pytest

from tests.dashboard.drawing import drawn, stored
from tests.dashboard.pipelines import MIDWAY, PIPELINES, SIZES


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_frame_looks_as_it_did(name: str, width: int, height: int) -> None:
    """Where this fails, look at both; `python -m tests.dashboard.write_frames` takes over what is drawn now."""
    assert drawn(PIPELINES[name], width, height) == stored(name, width, height).read_text(encoding="utf-8")


@pytest.mark.parametrize(("width", "height"), [(40, 24), (80, 16), (80, 24), (120, 30), (160, 50)])
def test_no_number_is_shown_in_part(width: int, height: int) -> None:
    """Fills with their room, and counts of four digits and more, are those of the state."""
    known, shown = drawn(MIDWAY, 400, 200), drawn(MIDWAY, width, height)
    for pattern in (r"\d+/\d+", r"\d+(?:,\d+)+"):
        assert set(re.findall(pattern, shown)) <= set(re.findall(pattern, known))


def test_a_wide_frame_has_every_box_and_queue() -> None:
    text = drawn(MIDWAY, 160, 50)
    for box in MIDWAY.boxes:
        assert box.name in text
        assert all(f"{queue.fill}/{queue.capacity}" in text for queue in box.queues)
    for value in (
        "texels 0 99.9% of 10,000",
        "depth 0 75.0% of 100",
        "colour r1,234,560 w64",
        "ch3 100%",
        "Draw 11,000",
    ):
        assert value in text
    assert "colour 0 " not in text.split("hits")[1].splitlines()[0], "a cache that nobody asked is left out"
