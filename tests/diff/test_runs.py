"""Is the first difference between two saved runs found, and what is different there?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from microcode import assemble
from pixelflow.config import load_config
from pixelflow.debugger import first_divergence
from pixelflow.isa import Program
from pixelflow.node import Node, Recorder, Replay, SavedRun
from pixelflow.simd.errors import InputError
from tests.debugger import programs

SOURCE = """\
range x[4]
range y[2]
data x: lane
EMC_TreeLTZero_Li 0, 2, 1, 0, -7
LOOP {rounds}
    CALL bump, x
ENDL
EMC_SetEnab
LD R, #{last}
ST y, R
routine bump(d)
    LD R, d
    ADD R, #{step}
    ST d, R
end
"""


def _program(**changed: int) -> Program:
    return assemble(SOURCE.format(**({"rounds": 200, "step": 1, "last": 5} | changed)))


def _saved(program: Program, *overrides: str) -> SavedRun:
    node = Node(load_config(None, [*programs.SIZES, *overrides], "tiny"))
    node.load(program)
    recorder = Recorder(node, "test")
    recorder.attach(node.bus)
    node.run(program)
    return recorder.saved


def _by_looking_at_every_cycle(first: Replay, second: Replay) -> int | None:
    """The first cycle behind which all PE state differs, or one has ended and the other has not."""
    while True:
        states = [side.node.array.snapshot() for side in (first, second)]
        if any(not np.array_equal(states[0][key], states[1][key]) for key in states[0]) or first.ended != second.ended:
            return first.position - 1 if first.position == second.position else min(first.position, second.position)
        if first.ended:
            return None
        cycle = first.position + 1
        first.advance(cycle)
        second.advance(cycle)


PAIRS = {
    "another immediate": (_program(), _program(step=2)),
    "the last instruction": (_program(), _program(last=6)),
    "one round less": (_program(), _program(rounds=199)),
    "more data": (_program(), assemble(SOURCE.format(rounds=200, step=1, last=5) + "data y: 1, 0\n")),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_the_first_difference_is_found(kind: str) -> None:
    runs = [_saved(program) for program in PAIRS[kind]]
    found = first_divergence(*(run.replay() for run in runs))
    assert found.cycle == _by_looking_at_every_cycle(*(run.replay() for run in runs))


def test_what_differs_there_has_names_and_values() -> None:
    runs = [_saved(program) for program in PAIRS["another immediate"]]
    found = first_divergence(*(run.replay() for run in runs))
    difference, carry = found.differences
    assert (carry.name, carry.lanes.tolist()) == ("C", [254]), "254 + 2 does not fit a byte"
    assert difference.name == "R" and difference.lanes.tolist() == list(range(runs[0].config.lanes))
    assert (difference.values[1] - difference.values[0] == 1).all(), "uint8, which wraps"
    for run, began in zip(runs, found.executed, strict=True):
        ((stream, index),) = began
        assert stream == "eigc" and run.program.line_at(index).line == 13
    later = [_saved(program) for program in PAIRS["more data"]]
    (difference,) = first_divergence(*(run.replay() for run in later)).differences
    assert difference.name == "y[0]"


def test_equal_runs_have_no_difference() -> None:
    run = programs.saved("exchange")
    assert first_divergence(run.replay(), run.replay()) is None
    assert first_divergence(run.replay(), run.replay("bit-serial")) is None


def test_texture_memory_counts_too() -> None:
    """The same bytes to another address: the PEs never differ."""
    text = """\
overlay out[32] at 352
STI out, #7
EMC_MarkWrite
SIGNAL 0
WAIT 1
STI out, #0
stream tigc
TAS_SetCrossbar 3, 0
TAS_SetCounter {address}
WAIT 0
TAS_MemWrBlock4 2
SIGNAL 1
"""
    runs = [_saved(assemble(text.format(address=address))) for address in (0, 1)]
    found = first_divergence(*(run.replay() for run in runs))
    assert found.modules == (0, 1) and not found.differences
    for run, began in zip(runs, found.executed, strict=True):
        ((stream, index),) = began
        assert stream == "tigc" and run.program.line_at(index).text.startswith("TAS_MemWr")


def test_other_machines_cannot_be_compared_but_other_configurations_can() -> None:
    program = _program()
    run, slower = _saved(program), _saved(program, "igc.control_cycles=1")
    found = first_divergence(run.replay(), slower.replay())
    assert found.cycle == _by_looking_at_every_cycle(run.replay(), slower.replay()), "control takes time on one of them"
    assert [len(began) for began in found.executed] == [1, 0]
    bigger = _saved(program, "array.modules=1")
    with pytest.raises(InputError, match="the machines are not alike"):
        first_divergence(run.replay(), bigger.replay())


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, program in zip("ab", PAIRS["another immediate"], strict=True):
        Path(f"{name}.npz").write_bytes(_saved(program).to_bytes())


def test_the_report(pixelflow, files) -> None:
    found = pixelflow("diff", "a.npz", "b.npz", "--width", 80)
    assert found.code == 1
    lines = found.out.splitlines()
    assert re.search(r"equal.* \d+", lines[0])
    assert lines[1].split(maxsplit=3)[:2] == ["A", "EIGC"] and lines[1].endswith("ADD R, #1")
    assert lines[2].split(maxsplit=3)[:2] == ["B", "EIGC"] and lines[2].endswith("ADD R, #2")
    assert [line.split() for line in lines[-2:]] == [["R", "256", "0", "01", "02"], ["C", "1", "254", "0", "1"]]
    assert (pixelflow("diff", "a.npz", "a.npz").code, pixelflow("diff", "a.npz", "a.npz", "-q").out) == (0, "")


def test_the_object(pixelflow, files) -> None:
    found = json.loads(pixelflow("diff", "a.npz", "b.npz", "--json").out)
    assert found["equal"] is False and found["kind"] == "run"
    assert found["parted"]["ends"] == [None, None]
    assert [each[0]["text"] for each in found["parted"]["executed"]] == ["ADD R, #1", "ADD R, #2"]
    assert found["differences"][0] == {"name": "R", "pes": 256, "pe": 0, "first": 1, "second": 2}
    same = json.loads(pixelflow("diff", "a.npz", "a.npz", "--json").out)
    assert (same["equal"], same["parted"], same["differences"]) == (True, None, [])


def test_kinds_do_not_mix(pixelflow, files) -> None:
    Path("c.json").write_text('{"schema": "pixelflow.run/1"}')
    found = pixelflow("diff", "a.npz", "c.json")
    assert found.code == 3 and found.err.startswith("c.json: error: ") and "a.npz" in found.err
    Path("d.npz").write_bytes(Path("a.npz").read_bytes()[:-3])
    assert "d.npz: error: " in pixelflow("diff", "a.npz", "d.npz").err
