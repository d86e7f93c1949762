"""A run saved while bytes are between PEs, GNI, GPs and texture memory goes on as if it had not been saved."""

from __future__ import annotations

import random

import numpy as np
import pytest

import microcode
from pixelflow.config import ArrayConfig, NodeConfig
from pixelflow.node import Checkpoint, Node

CONFIG = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=2, panels_per_emc=2))
SOURCE = """
EMC_TreeIntoMem_Li [356], 4, 4, 8, 8
EMC_TreeIntoMem_Li [368], 4, 3, 5, 7
EMC_MarkRead
EMC_MarkWrite
SIGNAL 0
stream tigc
TAS_SetGp 2, 0, 1
WAIT 0
TAS_MemLoad 3, 40, 0
TAS_MemRdGp4 4, 3, 4, 4
TAS_GpWrite 3, 0, 24
TAS_LoopBack
TAS_MemWrHeld4 2
TAS_MemRdBlock8 2
TAS_MemWrOver4 1, 1
"""


def prepared() -> Node:
    node = Node(CONFIG)
    node.gp_memory[0].write(0, np.random.default_rng(2).integers(0, 256, 4000, np.uint8))
    return node


def state(node: Node) -> tuple:
    return (
        node.digest(),
        [memory.digest() for memory in node.texture_memory],
        [memory.snapshot().tobytes() for memory in node.gp_memory],
        node.texture.moved,
    )


@pytest.mark.parametrize("seed", range(12))
def test_saved_and_loaded(seed: int) -> None:
    program = microcode.assemble(SOURCE)
    whole = prepared()
    account = whole.run(program)
    cycle = random.Random(seed).randrange(account.total_cycles)
    saved: list[bytes] = []
    node = prepared()
    node.run(program, save_at=cycle, save=lambda checkpoint: saved.append(checkpoint.to_bytes()))
    assert state(node) == state(whole)
    again = Node(CONFIG)
    resumed = again.resume(program, Checkpoint.from_bytes(saved[0]))
    assert state(again) == state(whole), cycle
    assert (resumed.tasic_cycles, resumed.gni_cycles, resumed.beside.cycles) == (
        account.tasic_cycles,
        account.gni_cycles,
        account.beside.cycles,
    )
