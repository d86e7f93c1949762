"""Does every value of every model of Larrabee move some cycle? Those of a core are in `larrabee_backend/test_turns.py`.

A value that moves none is a defect, or is listed here with the reason.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import larrabee_bridge
from larrabee_bridge.pipeline.schedule import FrameWork, ScheduleConfig, schedule
from larrabee_bridge.pipeline.texture_unit import TextureConfig
from larrabee_bridge.pipeline.traffic import TrafficConfig
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.ring import RingConfig, ride_clocks
from pixelflow.simd.configuration import leaves
from tests.larrabee_backend.test_turns import ELSEWHERE, MOVED

MODELS = (CoreConfig, TextureConfig, ScheduleConfig, RingConfig, TrafficConfig)
"""Whatever has parameters; those of the last one are of bytes, and take part in no cycle."""


def test_no_other_file_declares_parameters() -> None:
    room = Path(larrabee_bridge.__file__).parent
    found = {path.stem for path in room.rglob("*.py") if "param(" in path.read_text(encoding="utf-8")}
    assert found == {model.__module__.rpartition(".")[2] for model in MODELS}


def test_values_of_the_core_and_of_the_texture_unit_are_moved_there() -> None:
    assert {key for key, *_ in leaves(CoreConfig())} == set(MOVED) | ELSEWHERE | {"instruction_bytes"}
    text = (Path(__file__).parents[1] / "larrabee_backend" / "test_turns.py").read_text(encoding="utf-8")
    (listed,) = (
        part for part in text.split("@pytest.mark.parametrize") if "of_the_texture_unit_changes_cycles" in part
    )
    assert all(f'("{key}", ' in listed for key, *_ in leaves(TextureConfig()))


def works(frames: int) -> list[FrameWork]:
    """Three PrimSets and three bins in each frame."""
    front, back = np.array([40, 40, 30]), np.array([90, 30, 80])
    return [FrameWork("picture", front, back, frame) for frame in range(frames)]


USUAL = ScheduleConfig(cores=2, lock_cycles=1)
SCHEDULED = {
    "cores": 3, "lock_cycles": 7, "exclusive_locks": True, "longest_first": True, "frames_in_flight": 1,
    "front_first": True,
}  # fmt: skip


def test_every_value_of_the_scheduler_is_among_these() -> None:
    assert {key for key, *_ in leaves(ScheduleConfig())} == set(SCHEDULED)


@pytest.mark.parametrize("key", SCHEDULED)
def test_every_value_of_the_scheduler_moves_the_last_cycle(key: str) -> None:
    usual, other = (schedule(works(4), each) for each in (USUAL, replace(USUAL, **{key: SCHEDULED[key]})))
    assert usual.makespan != other.makespan


@pytest.mark.parametrize(("key", "value"), [("agents_of_a_ring", 4), ("hop_clocks", 3), ("link_clocks", 5)])
def test_every_value_of_the_ring_moves_a_ride(key: str, value: int) -> None:
    """Across the link of two rings, and between agents that shorter rings part."""
    usual, other = (
        ride_clocks(0, 18, 20, config=config) + ride_clocks(2, 9, 20, config=config)
        for config in (RingConfig(), replace(RingConfig(), **{key: value}))
    )
    assert usual != other


def test_the_width_of_the_ring_has_no_other_value() -> None:
    """512 bits in each direction are printed, and a line is a message; the others are moved above."""
    (width,) = (known for key, known, _, _ in leaves(RingConfig()) if key == "width_bytes")
    assert width.allowed == (64,) and len(list(leaves(RingConfig()))) == 4
