"""How frames of boxes and wires look: the stored ones at three sizes, and what no size may do."""

import re

import pytest
from rich.cells import cell_len

from pixelflow.simd.dashboard import QueueFill, pipeline_text, queue_style
from tests.dashboard.drawing import drawn, stored
from tests.dashboard.pipelines import MIDWAY, PIPELINES, SIZES


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_frame_looks_as_it_did(name: str, width: int, height: int) -> None:
    """Where this fails, look at both; `python -m tests.dashboard.write_frames` takes over what is drawn now."""
    assert drawn(PIPELINES[name], width, height) == stored(name, width, height).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("width", [1, 20, 39, 40, 75, 76, 80, 119, 120, 160, 250])
@pytest.mark.parametrize("height", [1, 2, 6, 10, 24, 50])
def test_a_frame_fits(name: str, width: int, height: int) -> None:
    lines = drawn(PIPELINES[name], width, height).splitlines()
    assert len(lines) <= height
    assert all(cell_len(line) <= width for line in lines)


@pytest.mark.parametrize(("width", "height"), [(40, 24), (80, 16), (80, 24), (120, 30), (160, 50)])
def test_no_number_is_shown_in_part(width: int, height: int) -> None:
    """Fills with their room, and counts of four digits and more, are those of the state."""
    known, shown = pipeline_text(MIDWAY, 10_000), drawn(MIDWAY, width, height)
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


def test_a_small_frame_shows_full_queues_before_empty_ones() -> None:
    shown = [line for line in drawn(MIDWAY, 44, 18).splitlines() if "…" in line and "/" in line]
    assert shown, "some queues have no room"
    assert all(not re.search(r"·0/\d+ q\d[▁-█]", line) for line in shown)


def test_what_has_no_room_is_named() -> None:
    assert "no room: " in drawn(MIDWAY, 120, 4)


@pytest.mark.parametrize(("fill", "style"), [(0, "dim"), (1, "green"), (5, "green"), (6, "yellow"), (10, "bold red")])
def test_full_queues_are_loud(fill: int, style: str) -> None:
    assert queue_style(QueueFill("q", fill, 10)) == style
