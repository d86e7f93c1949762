"""Does a transfer in which no PE takes part do nothing, and not fail?"""

import numpy as np
import pytest

from microcode import assemble
from pixelflow.config import TINY
from pixelflow.node import Node

PROGRAM = """
SIGNAL 0
WAIT 1
HALT
stream tigc
TAS_SetBanks {banks}
WAIT 0
{transfer}
SIGNAL 1
HALT
"""
TRANSFERS = (
    *("TAS_MemWrBlock4 2", "TAS_MemWrBlock8 2", "TAS_MemWrBase4 3", "TAS_MemWrHalf4 0"),
    *("TAS_MemRdBlock4 2", "TAS_MemRdBlock8 2", "TAS_LoopBack"),
)


@pytest.mark.parametrize("banks", [0, 1])
@pytest.mark.parametrize("transfer", TRANSFERS)
def test_nothing_moves(transfer: str, banks: int) -> None:
    node = Node(TINY)
    for flag in ("MR", "MW"):
        node.set_flag(flag, np.zeros(node.lanes, bool))
    memory = node.memory.copy()
    node.run(assemble(PROGRAM.format(transfer=transfer, banks=banks)))
    assert np.array_equal(node.memory, memory)
    assert not any(node.texture.moved.values())
