"""A program run in full and for its function alone, on two nodes that begin alike, and what the two are left with."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pixelflow.config import NodeConfig, load_config
from pixelflow.isa import Program
from pixelflow.node import Node, Run, UntimedRun

SMALL = load_config(None, ["array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=2"], "tiny")
"""Several modules and EMCs, of 128 PEs each."""


def filled(config: NodeConfig, engine: str, seed: int) -> Node:
    """Return a node with random bytes in PE memory, outside the ports, and in GP memory."""
    node, numbers = Node(config, engine), np.random.default_rng(seed)
    node.write_memory(0, numbers.integers(0, 256, (320, node.lanes), np.uint8))
    for memory in node.gp_memory:
        memory.write(0, numbers.integers(0, 256, 4096, np.uint8))
    return node


def differences(a: Any, b: Any, where: str = "") -> list[str]:
    """Return the names of all that differs between two snapshots."""
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        return [name for key in a for name in differences(a[key], b[key], f"{where}.{key}")]
    if isinstance(a, list | tuple):
        assert len(a) == len(b)
        return [name for at, each in enumerate(a) for name in differences(each, b[at], f"{where}[{at}]")]
    if is_dataclass(a):
        return [
            name
            for each in fields(a)
            for name in differences(getattr(a, each.name), getattr(b, each.name), f"{where}.{each.name}")
        ]
    return [] if np.array_equal(a, b) else [where]


def run_both(
    program: Program, config: NodeConfig = SMALL, engine: str = "rows", *, times: int = 1, entry: str | None = None
) -> tuple[Run, UntimedRun]:
    """Run a program so often on two nodes, each time on other data; return the last accounts, once all is alike."""
    full, alone = (Node(config, engine) for _ in range(2))
    for seed in range(times):
        for node in (full, alone):
            node.restore(filled(config, engine, seed).snapshot())
            node.load(program)
        run, untimed = full.run(program, entry=entry), alone.run(program, entry=entry, timing=False)
        assert differences(full.snapshot(), alone.snapshot()) == []
        assert full.texture.moved == alone.texture.moved
        for each, other in zip(run.streams, untimed.streams, strict=True):
            assert each.executed == other.executed and each.stream == other.stream
            assert [name for name, _ in each.stages] == list(other.stages)
            assert {name: calls for name, (calls, _) in each.routine_cycles.items()} == other.calls
    return run, untimed
