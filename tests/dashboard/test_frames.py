"""How frames look: the stored ones at four sizes, colour and its absence, and what a frame may cost of the screen."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from pixelflow.observe.dashboard_frame import DashboardState, SemaphoreState, text_frame
from tests.dashboard.drawing import drawn, stored
from tests.dashboard.states import ALONE, MIDWAY, SIZES, STATES

ESCAPE = "\x1b"


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_frame_looks_as_it_did(name: str, width: int, height: int) -> None:
    """Where this fails, look at both; `python -m tests.dashboard.write_frames` takes over what is drawn now."""
    assert drawn(STATES[name], width, height) == stored(name, width, height).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", STATES)
def test_nothing_is_left_out_at_200_by_60(name: str) -> None:
    assert "…" not in drawn(STATES[name], 200, 60)


@pytest.mark.parametrize("state", [ALONE, MIDWAY], ids=["one stream", "two streams"])
def test_a_frame_of_160_by_50_is_full(state: DashboardState) -> None:
    """A character of the map is two PEs at most, and something stands beside it down to the last lines."""
    lines = drawn(state, 160, 50).splitlines()
    (title,) = [at for at, line in enumerate(lines) if re.search(r"half a character: 1 PE|mean of 1 x 2 PEs", line)]
    beside = [at for at, line in enumerate(lines) if at > title and line.rpartition("│")[2].strip()]
    assert beside[-1] >= 46 and len(lines) <= 50


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_colour_is_dress_only(width: int, height: int) -> None:
    colored = drawn(MIDWAY, width, height, color=True)
    assert ESCAPE in colored
    plain = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line.rstrip() for line in plain.splitlines()] == drawn(MIDWAY, width, height).splitlines()


def test_without_colour_there_is_none() -> None:
    """NO_COLOR leaves bold and dim, which are no colours."""
    codes = set(re.findall(r"\x1b\[([0-9;]*)m", drawn(MIDWAY, 80, 24, color=True, no_color=True)))
    assert codes <= {"0", "1", "2", "1;2", "2;1"}


def test_a_frame_without_a_terminal_has_no_control_codes() -> None:
    assert ESCAPE not in drawn(MIDWAY, 80, 24)


def test_below_40_columns_there_are_lines_of_text() -> None:
    lines = drawn(MIDWAY, 39, 60).splitlines()
    assert "EIGC:  busy 36,916  wait 2,281" in lines
    assert all(cell_len(line) < 40 for line in lines)


def test_lines_of_text_hold_everything() -> None:
    text = text_frame(MIDWAY, 80)
    for value in ("39,197", "36,916", "32,967", "147,456", "1,253", "store0 1,920", "sem 1:  count 2", "35,220"):
        assert value in text


def test_what_has_no_room_is_named() -> None:
    assert "… no room: map, utilisation, semaphores, texture, stages" in drawn(MIDWAY, 140, 15)


def test_a_program_without_stages_keeps_its_semaphores() -> None:
    """The stages go below the map where there is room; nothing else goes with them."""
    state = replace(ALONE, semaphores=(SemaphoreState(3, 0, (), ("EIGC",), "EIGC"),))
    assert "3: 0 nobody→EIGC waits" in drawn(state, 80, 24)
