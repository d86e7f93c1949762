"""What a kernel leaves alone: disabled PEs, everything but the result, the cycles and the account of the run."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from microcode import assemble
from microcode.catalogue import Entry
from pixelflow.config import TINY
from pixelflow.isa import Program
from pixelflow.node import Node, Replay
from pixelflow.observe import RoutineEntered, RoutineLeft
from pixelflow.simd.errors import MachineFault
from tests.kernels.operands import ENTRIES, label, random_pairs, rows

SEED = 20261122
SMALL = ENTRIES
PLACES = {
    "apart": (0, 32, 64),
    "result is a": (32, 32, 64),
    "result is b": (64, 32, 64),
    "a is b": (0, 32, 32),
    "all are one": (32, 32, 32),
}


@cache
def _calls(include: str) -> Program:
    """Return a program with one entry for each routine of a library file and each of ``PLACES``."""
    lines, entries = [include], {}
    for entry in ENTRIES:
        if entry.include == include:
            for number, addresses in enumerate(PLACES.values()):
                places = ", ".join(f"[{address}]" for address in addresses[: len(entry.parameters)])
                entries[f"{entry.name} {number}"] = f"{entry.name}_{number}"
                lines.append(f"{entry.name}_{number}: CALL {entry.name}, {places}\nHALT")
    program = assemble("\n".join(lines))
    return replace(program, entries={name: program.labels[label] for name, label in entries.items()})


@cache
def _node(engine: str) -> Node:
    return Node(TINY, engine)


def _after(entry: Entry, engine: str, where: str, enabled: np.ndarray) -> Node:
    node = _node(engine)
    node.reset()
    generator = np.random.default_rng(SEED)
    node.write_memory(0, generator.integers(0, 256, (384, TINY.lanes), dtype=np.uint8))
    operands = rows(entry, *random_pairs(entry, TINY.lanes, SEED))
    for address, values in zip(PLACES[where][1:], operands, strict=False):
        node.write_memory(address, values)
    node.set_flag("E", enabled)
    node.run(_calls(entry.include), entry=f"{entry.name} {list(PLACES).index(where)}")
    return node


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("entry", SMALL, ids=label)
def test_memory_and_flags_are_those_of_the_microcode(entry: Entry, where: str) -> None:
    enabled = np.random.default_rng(SEED).random(TINY.lanes) < 0.6
    kernel, microcode = (_after(entry, engine, where, enabled) for engine in ("macro", "compiled"))
    kept = np.ones(384, bool)
    kept[152 : 152 + entry.scratch_bytes] = False
    assert (kernel.memory[kept] == microcode.memory[kept]).all()
    assert (kernel.memory[:, ~enabled] == microcode.memory[:, ~enabled]).all()
    for flag in ("E", "L", "MR", "MW", "E0", "L0"):
        assert (kernel.flag(flag) == microcode.flag(flag)).all(), flag


@pytest.mark.parametrize("engine", ["compiled", "macro"])
def test_the_account_of_a_run_is_the_same_on_every_engine(engine: str) -> None:
    source = """
include "float32/plain.mc"
routine twice(d, a)
    CALL fadd, d, a, a
    CALL fmul, d, d, a
end
loop 3
    CALL twice, [0], [4]
end
EPUSH
CALL fsqrt, [8], [0]
EPOP
CALL fneg, [8], [8]
HALT
"""
    program = assemble(source)
    rows_node, node = Node(TINY, "rows"), Node(TINY, engine)
    told: list = []
    node.bus.subscribe(told.append, RoutineEntered, RoutineLeft)
    heard: list = []
    rows_node.bus.subscribe(heard.append, RoutineEntered, RoutineLeft)
    one_by_one = list(Node(TINY, "rows").steps(program))[-1]
    expected, found, timed = rows_node.run(program), node.run(program), node.run(program, function=False)
    assert found.cycles == expected.cycles == timed.cycles == one_by_one.cycle
    assert found.by_routine == expected.by_routine == timed.by_routine
    assert found.executed == expected.executed == timed.executed
    assert told[: len(heard)] == heard and len(heard) == 2 * (3 * 3 + 2)
    assert (node.memory[:12] == rows_node.memory[:12]).all()


@pytest.mark.parametrize("engine", ["rows", "macro"])
def test_a_call_that_faults_does_so_in_the_instruction_that_does(engine: str) -> None:
    program = assemble('include "float32/tuned.mc"\nCALL fmul, [0], [4], [382]\nHALT\n')
    with pytest.raises(MachineFault, match=r"bytes 384..384 are outside the PE") as caught:
        Node(TINY, engine).run(program)
    file, line, _ = str(caught.value).split(":", 2)
    assert file.endswith(".mc") and "outside" not in file and line.isdigit()


def test_states_that_are_saved_are_those_of_the_microcode() -> None:
    program = assemble('include "float32/tuned.mc"\nCALL fmul, [0], [4], [8]\nCALL fadd, [0], [0], [8]\nHALT\n')
    rows, node, other = Node(TINY, "rows"), Node(TINY, "macro"), Node(TINY, "macro")
    saved: list = []
    rows.run(program)
    node.run(program, save_at=200, save=saved.append)
    other.resume(program, saved[0])
    assert node.digest() == other.digest() == rows.digest()
    replay = Replay(Node(TINY, "macro"), program)
    positions = [replay.goto(cycle) and replay.digest() for cycle in (300, 100, 300)]
    assert positions[0] == positions[2]
