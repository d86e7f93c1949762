"""Does a run that was saved at any cycle end like one that was not, and is every damaged file refused?"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import microcode
from pixelflow.config import NodeConfig, load_config
from pixelflow.isa import Program
from pixelflow.node import Checkpoint, Node, Run
from pixelflow.node import saved_state as checkpoint
from pixelflow.simd.errors import DeadlockError, InputError
from tests.streams import exchanges

CYCLES = 20
SCHEDULED_CYCLES = 6
FLIPS = 200
SEED = 1995

SIZES = ["array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=2"]
SMALL = load_config(None, SIZES, "tiny")

ALONE = """\
range x[4]
data x: lane
EMC_TreeLTZero_Li 0, 2, 1, 0, -7
loop 5
    CALL step, x
end
MARK "rest"
ENOT
CALL step, x[1]
routine step(d)
    LD R, d[0]
    loop 3
        ADD R, #77
        EC
        EPUSH
        SHL R
        ENC
        ST d[1], R
        EPOP
        ADDP d, 1
    end
    EMC_SetEnab
    EMC_PixCopy d[0], d[1], 2, 4
    SIGNAL 3
    WAIT 3
end
"""


def _program(kind: str) -> Program:
    return microcode.assemble(ALONE if kind == "one stream" else exchanges.program(7))


def _state(node: Node, run: Run) -> tuple:
    """Everything that a run leaves behind."""
    both = [(r.cycles, r.waits, r.stages, r.stage_waits, r.executed, r.routine_cycles) for r in run.streams]
    textures = [memory.digest() for memory in node.texture_memory]
    return node.digest(), textures, both, run.tasic_cycles, run.ledger


def _run(program: Program, **options) -> tuple:
    node = Node(SMALL)
    node.load(program)
    return _state(node, node.run(program, **options))


def _saved(program: Program, cycle: int, config: NodeConfig = SMALL) -> Checkpoint:
    found: list[Checkpoint] = []
    node = Node(config)
    node.load(program)
    node.run(program, save_at=cycle, save=found.append)
    (only,) = found
    return only


@pytest.fixture(scope="module")
def contents() -> bytes:
    return _saved(_program("two streams"), 700).to_bytes()


@pytest.mark.parametrize("kind", ["one stream", "two streams"])
def test_a_saved_run_ends_like_any_other(kind: str) -> None:
    rng = random.Random(SEED)
    program = _program(kind)
    expected = _run(program)
    last = max(each[0] for each in expected[2])
    for cycle in [0, 1, last, *(rng.randint(0, last) for _ in range(CYCLES))]:
        found: list[Checkpoint] = []
        assert _run(program, save_at=cycle, save=found.append) == expected, cycle
        node = Node(SMALL)
        loaded = Checkpoint.from_bytes(found[0].to_bytes())
        assert _state(node, node.resume(program, loaded, shuffle_seed=cycle)) == expected, cycle


def test_nothing_that_begins_later_is_in_the_saved_state() -> None:
    """Every PE counts cycles: the state before cycle n has counted n, however far the stream could run ahead."""
    program = microcode.assemble("loop 50\nADD R, #1\nend\nstream tigc\nTAS_SetStep 1\n")
    for cycle in (0, 1, 17, 50):
        assert set(_saved(program, cycle).state["array"]["R"]) == {cycle}
        alone: list[Checkpoint] = []
        Node(SMALL).run(program, entry="eigc", save_at=cycle, save=alone.append)
        assert set(alone[0].state["array"]["R"]) == {cycle}


SIGNALLED = {
    "its own": """\
SIGNAL 2
SIGNAL 2
SIGNAL 2
loop 20
    ADD R, #1
end
WAIT 2
WAIT 2
WAIT 2
ADD R, #1
""",
    "the other's": """\
SIGNAL 2
ADD R, #1
SIGNAL 2
SIGNAL 2
loop 20
    ADD R, #1
end
stream tigc
loop 15
    TAS_SetStep 1
end
WAIT 2
WAIT 2
WAIT 2
TAS_SetStep 2
""",
}
"""Three signals at the beginning, for waits that come after some time, in the same stream and in the other."""


@pytest.mark.parametrize("whose", SIGNALLED)
def test_signals_that_nobody_has_taken_yet_are_in_the_saved_state(whose: str) -> None:
    """From any cycle between signals and waits a resumed run finds all three; without one of them it would deadlock."""
    program = microcode.assemble(SIGNALLED[whose])
    expected = _run(program)
    assert expected[2][0][:2] == (21, {}), "20 rounds and one addition, and no wait"
    for cycle in range(21):
        node = Node(SMALL)
        assert _state(node, node.resume(program, _saved(program, cycle))) == expected, cycle


def test_another_engine_may_go_on() -> None:
    program = _program("two streams")
    node = Node(SMALL, engine="bit-serial")
    assert _state(node, node.resume(program, _saved(program, 500))) == _run(program)


def test_a_resumed_run_can_be_saved_again() -> None:
    program = _program("two streams")
    first, found = _saved(program, 400), []
    assert Node(SMALL).resume(program, first, save_at=900, save=found.append).cycles
    node = Node(SMALL)
    assert _state(node, node.resume(program, found[0])) == _run(program)
    with pytest.raises(InputError, match="cycle 399 cannot be saved: the run was loaded at cycle 400"):
        Node(SMALL).resume(program, first, save_at=399, save=found.append)


def test_a_new_process_goes_on(tmp_path: Path) -> None:
    program = _program("two streams")
    program.save(tmp_path / "prog.mco")
    _saved(program, 600).save(tmp_path / "state.npz")
    lines = [
        "from pixelflow.config import load_config",
        "from pixelflow.isa import Program",
        "from pixelflow.node import Checkpoint, Node",
        f"node = Node(load_config(None, {SIZES}, 'tiny'))",
        "run = node.resume(Program.load('prog.mco'), Checkpoint.load('state.npz'))",
        "import sys; sys.stdout.write(f'{node.digest()} {run.cycles} {run.beside.cycles}')",
    ]
    root = Path(__file__).parents[2]
    code = f"import sys; sys.path.insert(0, {str(root)!r})\n" + "\n".join(lines)
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    digest, _, both, _, _ = _run(program)
    assert told.split() == [digest, str(both[0][0]), str(both[1][0])]


def test_a_deadlock_can_be_saved_before_and_is_found_again() -> None:
    program = microcode.assemble("LD R, #1\nLD R, #1\nWAIT 0\nstream tigc\nWAIT 1\n")
    found: list[Checkpoint] = []
    texts = []
    for run in (
        lambda: Node(SMALL).run(program, save_at=1, save=found.append),
        lambda: Node(SMALL).resume(program, found[0]),
    ):
        with pytest.raises(DeadlockError) as caught:
            run()
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_a_cycle_after_the_end_cannot_be_saved() -> None:
    program = _program("one stream")
    cycles = Node(SMALL).run(program).cycles
    with pytest.raises(InputError, match=f"cycle {cycles + 1} cannot be saved: the run ends at cycle {cycles}"):
        _saved(program, cycles + 1)
    with pytest.raises(InputError, match="no state to save"):
        Node(SMALL).run(program, function=False, save_at=1)


def test_the_file_is_plain_and_always_the_same(contents: bytes, tmp_path: Path) -> None:
    assert contents == _saved(_program("two streams"), 700).to_bytes()
    (tmp_path / "state.npz").write_bytes(contents)
    with np.load(tmp_path / "state.npz", allow_pickle=False) as archive:
        assert "header" in archive.files
        assert all(archive[name].dtype.kind in "uib" for name in archive.files)
    assert Checkpoint.load(tmp_path / "state.npz").cycle == 700


def test_every_flipped_bit_is_refused(contents: bytes) -> None:
    rng = random.Random(SEED)
    places = [0, len(contents) - 1, *(rng.randrange(len(contents)) for _ in range(FLIPS - 2))]
    for place in places:
        damaged = bytearray(contents)
        damaged[place] ^= 1 << rng.randrange(8)
        with pytest.raises(InputError, match=r"state\.npz: error: is (damaged|not a checkpoint)"):
            Checkpoint.from_bytes(bytes(damaged), "state.npz")


def test_a_cut_file_is_refused(contents: bytes) -> None:
    rng = random.Random(SEED)
    for size in [0, 1, 63, 64, 100, len(contents) - 1, *(rng.randrange(len(contents)) for _ in range(20))]:
        with pytest.raises(InputError, match="is not a checkpoint, or its end is missing"):
            Checkpoint.from_bytes(contents[:size])
    with pytest.raises(InputError, match="is not a checkpoint"):
        Checkpoint.from_bytes(contents + b"\n")


def test_another_program_configuration_or_version_is_refused(contents: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = Checkpoint.from_bytes(contents, "state.npz")
    with pytest.raises(InputError) as caught:
        Node(load_config(None, [], "tiny")).resume(_program("one stream"), saved)
    assert [fault.message.split(":")[0].split()[-1] for fault in caught.value.faults] == ["program", "configuration"]
    monkeypatch.setattr(checkpoint, "SCHEMA", "pixelflow.checkpoint/0")
    other = saved.to_bytes()
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"is of another version: schema 'pixelflow\.checkpoint/0', expected"):
        Checkpoint.from_bytes(other)


def test_a_file_with_the_right_hash_and_the_wrong_contents_is_refused(contents: bytes) -> None:
    saved = Checkpoint.from_bytes(contents)
    for state in ({}, {"array": {}}, None):
        wrong = Checkpoint(saved.program_sha256, saved.config_sha256, 1, None, state)
        with pytest.raises(InputError, match="is damaged"):
            Node(SMALL).resume(_program("two streams"), Checkpoint.from_bytes(wrong.to_bytes()))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Checkpoint.load(tmp_path / "none.npz")
    with pytest.raises(InputError, match="is a folder"):
        Checkpoint.load(tmp_path)


SCHEDULED = {
    "greedy": ["equal_slots=false", "check_commands=true"],
    "refresh": ["refresh=true", "refresh_interval_cycles=64"],
    "checked": ["check_commands=true"],
    "all": ["equal_slots=false", "check_commands=true", "refresh=true", "refresh_interval_cycles=100"],
}


@pytest.mark.parametrize("name", SCHEDULED)
def test_a_run_that_schedules_every_access_ends_the_same_from_any_cycle(name: str) -> None:
    """The program gives each SDRAM its own addresses, so that from some cycle on each has a schedule of its own."""
    config = load_config(None, [*SIZES, *(f"sdram.{each}" for each in SCHEDULED[name])], "tiny")
    program = _program("two streams")
    rng = random.Random(SEED)
    whole = Node(config)
    whole.load(program)
    run = whole.run(program)
    expected = _state(whole, run)
    for cycle in sorted(rng.sample(range(run.total_cycles), SCHEDULED_CYCLES)):
        saved = Checkpoint.from_bytes(_saved(program, cycle, config).to_bytes())
        node = Node(config)
        assert _state(node, node.resume(program, saved, shuffle_seed=cycle)) == expected, cycle


@pytest.mark.parametrize("name", SCHEDULED)
def test_the_state_after_resuming_is_that_of_a_run_that_went_on(name: str) -> None:
    """Saved at cycle a, resumed, and saved again at b gives the file that a run from the start gives at b."""
    config = load_config(None, [*SIZES, *(f"sdram.{each}" for each in SCHEDULED[name])], "tiny")
    program = _program("two streams")
    for early, late in ((0, 300), (300, 301), (450, 700)):
        again: list[Checkpoint] = []
        Node(config).resume(program, _saved(program, early, config), save_at=late, save=again.append)
        assert again[0].to_bytes() == _saved(program, late, config).to_bytes(), (early, late)


def test_a_file_is_there_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program("two streams")
    checkpoint = _saved(program, 600)
    target = tmp_path / "state.npz"
    checkpoint.save(target)
    before = target.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for path in (target, tmp_path / "other.npz"):
        with pytest.raises(OSError, match="No space left"):
            checkpoint.save(path)
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["state.npz"]
