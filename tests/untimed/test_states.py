"""Does a function-only run leave the state of a full run: PEs, texture memory, GP memory and registers?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microcode
from pixelflow.config import TINY, load_config
from pixelflow.node import Node
from pixelflow.simd.lanes import choose
from tessellation import Method, load
from tessellation.host.session import Session
from tessellation.microprogram.method import library_named
from tests.streams import exchanges, graphs
from tests.untimed.states import differences, filled, run_both

EXAMPLES = sorted((Path(__file__).parents[2] / "microcode" / "examples").glob("*.mc"))
EXCHANGES = [range(20), pytest.param(range(20, 70), marks=pytest.mark.slow)]
GRAPHS = [range(40), pytest.param(range(40, 140), marks=pytest.mark.slow)]
"""Programs of each kind; the seed of a program is its number."""


def native(engine: str) -> str:
    note = choose("compiled").note if engine != "rows" else None
    if note is not None:
        pytest.skip(note)
    return engine


@pytest.mark.parametrize("engine", [pytest.param("rows", marks=pytest.mark.slow), "macro"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path, engine: str) -> None:
    run_both(microcode.assemble(path), TINY, native(engine), times=2)


@pytest.mark.parametrize("seeds", EXCHANGES)
def test_random_programs_whose_streams_exchange_data(seeds: range) -> None:
    moved = 0
    for seed in seeds:
        _, untimed = run_both(microcode.assemble(exchanges.program(seed)))
        moved += sum(untimed.moved.values())
    assert moved > 100_000


@pytest.mark.parametrize("seeds", GRAPHS)
def test_random_programs_of_semaphores(seeds: range) -> None:
    node, alone = Node(TINY), Node(TINY)
    for seed in seeds:
        program = microcode.assemble(graphs.correct(seed).text())
        run, untimed = node.run(program), alone.run(program, timing=False)
        assert (run.executed, run.beside.executed) == (untimed.executed, untimed.beside.executed), seed
        assert differences(node.snapshot(), alone.snapshot()) == [], seed


def test_programs_that_are_run_again_on_other_data() -> None:
    for seed in range(12):
        run_both(microcode.assemble(exchanges.program(seed)), times=3)


def test_coordinates_that_a_program_sets_are_set_again() -> None:
    run_both(microcode.assemble("EMC_SetLEE 0, 0, 3, 5, 7\nEMC_TreeIntoMem_Li [0], 2, 1, 100, 0\n"), times=2)


LIBRARY = """\
include "float32/{}.mc"
range a[4]
range b[4]
range c[4]
routine norm(d, a, b)
    CALL fmul, d, a, a
    CALL fmul, a, b, b
    CALL fadd, d, d, a
    CALL fsqrt, d, d
end
loop 3
    CALL norm, c, a, b
    CALL fsub, b, c, a
end
EMC_TreeLTZero_Li 0, 2, 1, 0, -9
CALL fdiv, a, b, c
"""


@pytest.mark.parametrize("engine", ["rows", "compiled", "macro"])
@pytest.mark.parametrize("library", ["plain", "tuned"])
def test_library_calls(library: str, engine: str) -> None:
    _, untimed = run_both(microcode.assemble(LIBRARY.format(library)), TINY, native(engine), times=2)
    assert (untimed.calls["norm"], untimed.calls["fmul"], untimed.calls["fdiv"]) == (3, 6, 1)


TRAFFIC = """\
EMC_TreeLTZero_Li 0, 2, 1, 0, -9
EMC_MarkWrite
EMC_MarkRead
EMC_SetEnab
EMC_TreeIntoMem_Li [352], 4, 8, 8, 64
repeat i in 4 .. 31
    LD R, [i]
    ST [352 + i], R
end
SIGNAL 0
WAIT 1
repeat i in 0 .. 31
    LD R, [320 + i]
    ST [100 + i], R
end
SIGNAL 0
WAIT 1
stream tigc
TAS_SetGp 2, 0, 1
TAS_SetGpAddress 3, 640
WAIT 0
TAS_MemLoad 3, 16, 32
TAS_MemRdGp4 2, 3, 4, 8
SIGNAL 1
WAIT 0
TAS_MemWrBlock4 2
TAS_GpWrite 3, 0, 24
TAS_LoopBack
SIGNAL 1
"""
TIMINGS = [
    (),
    ("sdram.equal_slots=false", "sdram.check_commands=true"),
    ("sdram.refresh=true", "tasic.read_overhead_cycles=3", "igc.control_cycles=1"),
]


@pytest.mark.parametrize("changes", TIMINGS, ids=["thesis", "greedy", "refresh"])
def test_traffic_with_gps_whatever_the_times(changes: tuple[str, ...]) -> None:
    sizes = ("array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=2")
    config = load_config(None, [*sizes, *changes], "tiny")
    _, untimed = run_both(microcode.assemble(TRAFFIC), config, times=2)
    assert untimed.moved["GPs to TASICs"] == 16 * 32 and untimed.moved["PEs to GPs"] > 0


def test_one_stream_alone() -> None:
    program = microcode.assemble("LD R, #7\nST [3], R\nSIGNAL 0\nstream tigc\nWAIT 0\nTAS_MemRdBlock4 1\n")
    run, untimed = run_both(program, entry="eigc")
    assert untimed.beside is None and run.instructions == untimed.instructions == 4


@pytest.mark.parametrize(
    ("schedule", "library", "engine"),
    [("thesis", "plain", "macro"), ("shared-columns", "tuned-finite", "rows")]
    + [
        pytest.param(*each, marks=pytest.mark.slow)
        for each in (("thesis", "plain", "rows"), ("shared-columns", "tuned-finite", "macro"))
    ],
)
def test_a_tessellation_pass(schedule: str, library: str, engine: str) -> None:
    """On the macro engine twice: the second run of a program on the node makes the steps of the first."""
    session = Session(TINY, native(engine), library_named(library), Method(schedule=schedule))
    marked = {session.add(patch): 4 for patch in load("teapot").patches[:16]}
    first = session.plan(marked)[0]
    expected = session.run(first)
    program = session.program(session.plan(marked)[0])
    full, alone = session.node, Node(TINY, engine)
    noise = filled(TINY, engine, 1).read_memory(0, 320)
    state = full.snapshot()
    for _ in range(2 if engine == "macro" else 1):
        for node in (full, alone):
            node.restore(state)
            node.write_memory(0, noise)  # the pass must make its own points
        run, untimed = full.run(program), alone.run(program, timing=False)
        assert differences(full.snapshot(), alone.snapshot()) == []
        assert (run.executed, run.beside.executed) == (untimed.executed, untimed.beside.executed)
        for axis, name in enumerate("xyz"):
            found = alone.read_float(first.memory[f"{name}_point"].start)
            assert np.array_equal(found.view(np.uint32), expected.points[:, axis].copy().view(np.uint32))
