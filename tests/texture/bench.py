"""A node whose ports and marks a test sets by hand, and texture instructions run on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import microcode
from pixelflow.config import THESIS, NodeConfig, SdramConfig
from pixelflow.isa import OUTPUT_PORT
from pixelflow.node import Node, Run
from pixelflow.node.run.clocked import Clocked

LANES = np.arange(THESIS.lanes)
EMC = LANES // 256 % 8
IN_EMC = LANES % 256

BANK = 1 << 20


def sdram(**values: object) -> NodeConfig:
    return NodeConfig(sdram=SdramConfig(**values))


def program(text: str):
    return microcode.assemble(f"HALT\nstream tigc\n{text}\n")


def prepare(
    node: Node, *, read: NDArray[np.bool_] | None = None, write: NDArray[np.bool_] | None = None, **ports: NDArray
) -> None:
    """Set marks, and output ports from ``words`` (uint32[n, lanes]) or ``bytes`` (uint8[32, lanes])."""
    for flag, marks in (("MR", read), ("MW", write)):
        node.set_flag(flag, np.zeros(node.lanes, bool) if marks is None else marks)
    port = np.zeros((32, node.lanes), np.uint8)
    if "words" in ports:
        words = np.asarray(ports["words"], "<u4")
        port[: 4 * len(words)] = words.T.copy().view(np.uint8).reshape(node.lanes, -1).T
    if "bytes" in ports:
        port[:] = ports["bytes"]
    node.write_memory(OUTPUT_PORT, port)


def run(node: Node, text: str, **options: object) -> Run:
    return node.run(program(text), **options)


def boxes_of(node: Node, text: str, **options: object) -> Clocked:
    """Run, and return the boxes for a look at what they counted."""
    both = node.runner(program(text), None, None, None, **options)
    both.run()
    return both
