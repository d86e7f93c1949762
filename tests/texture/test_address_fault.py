"""Does a fault of a texture address say whose address it is, which instruction asked, and when?"""

from __future__ import annotations

import numpy as np
import pytest

import microcode
from pixelflow.config import THESIS
from pixelflow.node import Node
from pixelflow.simd.errors import MachineFault

SOURCE = """\
overlay out[32] at 352
range address[4]
EMC_MarkRead
repeat i in 0 .. 3
    LD R, address[i]
    ST out[i], R
end
SIGNAL 0
stream tigc
WAIT 0
TAS_MemRdBlock4 1
"""
LANE = ((2 * 8 + 5) * 8 + 0) * 32 + 3
"""Module 2, EMC 5, panel 0, PE 3: the fourth of its panel, so its turn comes in round 3."""


def _node() -> Node:
    node = Node(THESIS, "rows")
    addresses = np.zeros(node.lanes, np.uint64)
    addresses[LANE] = 1
    node.program = microcode.assemble(SOURCE)
    node["address"] = addresses
    return node


@pytest.mark.parametrize("timing", [True, False])
def test_a_wrong_address_is_said_with_its_pe_line_and_cycle(timing: bool) -> None:
    node = _node()
    with pytest.raises(MachineFault) as caught:
        node.run(node.program, timing=timing)
    whose = f"texture address 0x1 is not a multiple of 4 below 0x200000: module 2, EMC 5, PE {LANE} (2.5.0.3), round 3"
    when = " (TIGC, cycle 10)" if timing else ""
    assert str(caught.value) == f"<text>:11: {whose}{when}"
