"""Which marked PEs are served when (thesis 2.2.7), where the host's index integer has 64 bits and where it has 32."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pixelflow.config import TINY
from pixelflow.node import texture_memory as memory_file
from pixelflow.node import texture_unit as file
from pixelflow.node.texture_memory import TextureMemory
from pixelflow.node.texture_unit import service_order
from tests.narrow_index import narrow_index

ARRAY = TINY.array


def in_turn(marks: np.ndarray, *, panel_minor: bool) -> list[list[int]]:
    """Return the marked lanes of each EMC in the order of service, one by one."""
    found = []
    of_emc = ARRAY.panels_per_emc * ARRAY.pes_per_panel
    for emc in range(ARRAY.emcs):
        first = emc * of_emc
        panels = [
            range(first + p * ARRAY.pes_per_panel, first + (p + 1) * ARRAY.pes_per_panel)
            for p in range(ARRAY.panels_per_emc)
        ]
        lanes = [[lane for lane in panel if marks[lane]] for panel in panels]
        if panel_minor:
            turns = range(ARRAY.pes_per_panel)
            found.append([lanes[p][turn] for turn in turns for p in range(len(lanes)) if turn < len(lanes[p])])
        else:
            found.append([lane for panel in lanes for lane in panel])
    return found


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("panel_minor", [False, True])
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 1])
def test_marked_pes_are_served_in_turn(monkeypatch, bits: int, panel_minor: bool, share: float) -> None:
    if bits == 32:
        narrow_index(monkeypatch, file)
    marks = np.random.default_rng(7).random(ARRAY.lanes) < share
    order = service_order(marks, ARRAY, panel_minor=panel_minor)
    assert order.dtype == np.int64
    assert [[lane for lane in emc if lane >= 0] for emc in order.tolist()] == in_turn(marks, panel_minor=panel_minor)


@pytest.mark.parametrize("bits", [32, 64])
def test_the_size_of_a_large_memory_is_exact(monkeypatch, bits: int) -> None:
    memory = TextureMemory(replace(TINY.sdram, columns=1 << 10, rows=1 << 20))
    if bits == 32:
        narrow_index(monkeypatch, memory_file)
    assert memory.size == TINY.sdram.devices_per_module * TINY.sdram.banks * (1 << 30)
