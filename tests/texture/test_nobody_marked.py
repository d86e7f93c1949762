"""Does a transfer in which no PE takes part do nothing, and not fail?"""

import numpy as np
import pytest

from microcode import assemble
from pixelflow.config import TINY, load_config
from pixelflow.isa.declarations import INPUT_PORT, PORT_BYTES
from pixelflow.node import Node
from pixelflow.node.kernels import ENGINES
from pixelflow.node.texture_addresses import Physical

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
    "TAS_MemWrOver4 1, 0",
    *("TAS_MemRdBlock4 2", "TAS_MemRdBlock8 2", "TAS_MemRdRepeat4 4, 1", "TAS_LoopBack"),
)
TWO_MODULES = load_config(None, ["array.modules=2"], "tiny")
FIRST = Physical(np.arange(8), *np.zeros((3, 8), int))
"""The first word of each SDRAM of a module."""


@pytest.mark.parametrize("banks", [0, 1])
@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_moves(engine: str, transfer: str, banks: int) -> None:
    """Whether the program runs for the first time, or is repeated."""
    node, program = Node(TWO_MODULES, engine), assemble(PROGRAM.format(transfer=transfer, banks=banks))
    for flag in ("MR", "MW"):
        node.set_flag(flag, np.zeros(node.lanes, bool))
    memory = node.memory.copy()
    cycles = {node.run(program).total_cycles for _ in range(3)}
    assert len(cycles) == 1
    assert np.array_equal(node.memory, memory)
    assert not any(node.texture.moved.values())


def test_reads_with_and_without_a_marked_pe_take_turns() -> None:
    """Repeated runs give what the engine gives that goes through every cycle."""
    program = assemble(PROGRAM.format(transfer="TAS_MemRdBlock4 2", banks=0))
    found = []
    for engine in ("rows", "macro"):
        node = Node(TINY, engine)
        for memory in node.texture_memory:
            memory.write(FIRST, np.arange(32, dtype=np.uint8).reshape(8, 4))
        runs = []
        for share in (0, 0, 0, 4, 4, 4, 0, 0, 4, 4):
            node.set_flag("MR", np.arange(node.lanes) % 4 < share)
            node.write_memory(INPUT_PORT, np.full((PORT_BYTES, node.lanes), len(runs), np.uint8))
            run = node.run(program)
            runs.append((run.total_cycles, node.memory.tobytes(), dict(node.texture.moved)))
        found.append(runs)
    assert found[0] == found[1]
    cycles, memory, _ = zip(*found[0], strict=True)
    assert cycles[0] == cycles[7] < cycles[4] == cycles[9]
    assert memory[3] == memory[9] != memory[2], "each PE has got the first words, and nobody has"
