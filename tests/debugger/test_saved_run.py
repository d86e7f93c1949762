"""Is a run in a file the run it was, and is every damaged file refused?"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from microcode import assemble
from pixelflow.node import Node, Poke, Recorder, Replay, RunEnd, SavedRun
from pixelflow.node import replay as saved_run
from pixelflow.observe import Executed
from pixelflow.simd.errors import DeadlockError, InputError
from tests.debugger import programs

FLIPS = 100
SEED = 1995


@pytest.mark.parametrize("name", programs.NAMES)
def test_a_file_holds_the_run(name: str) -> None:
    run = programs.saved(name)
    again = SavedRun.from_bytes(run.to_bytes())
    assert (again.program, again.config, again.end) == (run.program, run.config, run.end)
    assert again.to_bytes() == run.to_bytes()
    replay = again.replay()
    assert replay.goto(1 << 40) == run.end.cycles
    assert replay.node.digest() == run.end.digest
    again.check_end(replay)


def test_every_damage_is_refused(tmp_path) -> None:
    data = programs.saved("texture_copy").to_bytes()
    generator = random.Random(SEED)
    for length in [0, 1, 100, len(data) // 2, len(data) - 1]:
        with pytest.raises(InputError, match="is not a saved run, or its end is missing"):
            SavedRun.from_bytes(data[:length])
    for _ in range(FLIPS):
        at, bit = generator.randrange(len(data)), 1 << generator.randrange(8)
        with pytest.raises(InputError, match=r"damaged|is not a saved run"):
            SavedRun.from_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
    with pytest.raises(InputError, match="no such file"):
        SavedRun.load(tmp_path / "nothing.npz")


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    run = programs.saved("panel_sum")
    with monkeypatch.context() as patched:
        patched.setattr(saved_run, "SCHEMA", "pixelflow.saved_run/9")
        data = run.to_bytes()
    with pytest.raises(InputError, match=r"is of another version: schema 'pixelflow\.saved_run/9'"):
        SavedRun.from_bytes(data)


def test_a_checkpoint_is_no_saved_run() -> None:
    node, found = Node(programs.SMALL), []
    node.run(assemble("LD R, #1\nLD R, #2\n"), save_at=1, save=found.append)
    with pytest.raises(InputError, match=r"schema 'pixelflow\.checkpoint/2'"):
        SavedRun.from_bytes(found[0].to_bytes())


def test_a_stopped_run_is_saved_with_its_reason() -> None:
    node = Node(programs.SMALL)
    recorder = Recorder(node, "pixelflow run stuck.mc")
    recorder.attach(node.bus)
    with pytest.raises(DeadlockError):
        node.run(assemble("LD R, #1\nWAIT 1\n"), max_cycles=50)
    run = SavedRun.from_bytes(recorder.saved.to_bytes())
    assert run.end == RunEnd(1, "deadlock", None) and run.max_cycles == 50
    replay = run.replay()
    replay.goto(1 << 40)
    assert isinstance(replay.stopped, DeadlockError)


def test_one_of_several_runs_is_kept() -> None:
    node = Node(programs.SMALL)
    recorder = Recorder(node, "two runs", number=2)
    recorder.attach(node.bus)
    first, second = assemble("LD R, #1\n"), assemble("ADD R, #1\nADD R, #1\n")
    node.run(first)
    assert recorder.saved is None
    node.run(second)
    assert recorder.saved.program == second and recorder.saved.end.cycles == 2
    replay = recorder.saved.replay()
    assert set(replay.node.register("R")) == {1}, "the state that the first run has left"
    replay.goto(2)
    assert set(replay.node.register("R")) == {3}


def test_a_run_without_data_cannot_be_saved() -> None:
    node = Node(programs.SMALL)
    Recorder(node, "timing").attach(node.bus)
    with pytest.raises(InputError, match="no PE data"):
        node.run(assemble("LD R, #1\n"), function=False)


def test_a_replay_that_ends_otherwise_is_said() -> None:
    run = programs.saved("panel_sum")
    replay = run.replay()
    replay.node.write_memory(0, replay.node.read_memory(0) * 0)
    other = Replay(replay.node, run.program)
    other.goto(1 << 40)
    with pytest.raises(InputError, match="executed again it ends with"):
        run.check_end(other)


def test_an_interrupted_run_is_saved_without_an_end_and_can_be_taken_further() -> None:
    node = Node(programs.SMALL)
    recorder = Recorder(node, "pixelflow run")
    recorder.attach(node.bus)

    def interrupt(event: Executed) -> None:
        if event.cycle >= 3:
            raise KeyboardInterrupt

    node.bus.subscribe(interrupt, Executed)
    with pytest.raises(KeyboardInterrupt):
        node.run(assemble("loop 9\nLD R, #1\nend\n"))
    saved = SavedRun.from_bytes(recorder.saved.to_bytes())
    assert saved.end is None
    assert saved.replay().goto(1 << 40) == 9


def test_pokes_are_part_of_the_file_and_of_every_replay() -> None:
    run = programs.saved("panel_sum")
    replay = run.replay()
    lanes = np.array([0, 5])
    replay.poke(Poke(0, "R = 7", "R", lanes, np.array([[7, 7]], np.uint8)))
    replay.goto(40)
    rows = np.arange(4, dtype=np.uint8).reshape(2, 2)
    replay.poke(Poke(40, "a", "memory", lanes, rows, 8))
    digests = {at: (replay.goto(at), replay.digest()) for at in (40, 90, 1 << 40)}
    saved = SavedRun.of(replay, "pixelflow debug")
    assert saved.end is not None and saved.end.digest == replay.node.digest() != run.end.digest
    data = saved.to_bytes()
    assert data == SavedRun.from_bytes(data).to_bytes()
    again = SavedRun.from_bytes(data).replay("bit-serial")
    assert {at: (again.goto(at), again.digest()) for at in digests} == digests
    saved.check_end(again)
    again.unpoke(2)
    assert again.goto(1 << 40) and again.digest() != digests[1 << 40][1]


def test_a_replay_of_a_file_with_pokes_that_ends_otherwise_is_said() -> None:
    replay = programs.saved("panel_sum").replay()
    replay.poke(Poke(0, "R = 7", "R", np.array([0]), np.array([[7]], np.uint8)))
    replay.goto(1 << 40)
    saved = SavedRun.of(replay, "pixelflow debug")
    wrong = replace(saved, end=saved.end._replace(cycles=saved.end.cycles + 1))
    replay = wrong.replay()
    replay.goto(1 << 40)
    with pytest.raises(InputError, match="executed again it ends with"):
        wrong.check_end(replay)


@pytest.mark.parametrize(
    "wrong",
    [
        {"cycle": -1}, {"cycle": True}, {"part": "PC"}, {"part": "memory", "start": 10**6}, {"lanes": [0, 0]},
        {"lanes": []}, {"lanes": [10**6, 1]}, {"values": ["07"]}, {"values": ["0g", "07"]},
        {"text": "\x1b]0;x"}, {"start": 3},
    ],
    ids=str,
)  # fmt: skip
def test_damaged_pokes_are_refused(wrong: dict[str, object]) -> None:
    poke = Poke(0, "R = 7", "R", np.array([0, 1]), np.array([[7, 7]], np.uint8)).as_object() | wrong
    with pytest.raises(ValueError):
        Poke.from_object(poke, programs.SMALL.array)
