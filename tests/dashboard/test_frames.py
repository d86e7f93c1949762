"""How frames look: the stored ones at four sizes, colour and its absence, and what a frame may cost of the screen."""

from dataclasses import replace

import pytest

from pixelflow.observe.dashboard_frame import SemaphoreState
from tests.dashboard.drawing import drawn, stored
from tests.dashboard.states import ALONE, MIDWAY, SIZES, STATES

ESCAPE = "\x1b"


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_frame_looks_as_it_did(name: str, width: int, height: int) -> None:
    """Where this fails, look at both; `python -m tests.dashboard.write_frames` takes over what is drawn now."""
    assert drawn(STATES[name], width, height) == stored(name, width, height).read_text(encoding="utf-8")


def test_a_frame_without_a_terminal_has_no_control_codes() -> None:
    assert ESCAPE not in drawn(MIDWAY, 80, 24)


def test_what_has_no_room_is_named() -> None:
    assert "… no room: " in drawn(MIDWAY, 140, 15)


def test_a_program_without_stages_keeps_its_semaphores() -> None:
    """The stages go below the map where there is room; nothing else goes with them."""
    state = replace(ALONE, semaphores=(SemaphoreState(3, 0, (), ("EIGC",), "EIGC"),))
    assert "3: 0 none→EIGC waits" in drawn(state, 80, 24)
