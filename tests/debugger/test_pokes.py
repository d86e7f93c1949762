"""Is a change that a user makes part of the run: the same states there and back, and those of a changed checkpoint?"""

from __future__ import annotations

import random

import numpy as np
import pytest

from pixelflow.node import Checkpoint, Node, Poke, Replay
from pixelflow.simd.errors import InputError
from tests.debugger import programs
from tests.streams import exchanges

PARTS = ("memory", "R", "S", "M", "C", "E", "L", "MR", "MW")
MOVEMENTS = 40
END = 1 << 40


def _poke(replay: Replay, generator: random.Random) -> Poke:
    """Return a change of random PEs at the position that a run stands at."""
    array, lanes = replay.node.config.array, replay.node.lanes
    part = generator.choice(PARTS)
    chosen = np.array(sorted(generator.sample(range(lanes), generator.randint(1, lanes))))
    size = generator.randint(1, 8) if part == "memory" else 1
    values = np.frombuffer(generator.randbytes(size * len(chosen)), np.uint8).reshape(size, len(chosen))
    start = generator.randrange(array.memory_bytes - size)
    return Poke(replay.position, "at random", part, chosen, values, start)


@pytest.mark.parametrize("seed", [*range(20, 24), *(pytest.param(s, marks=pytest.mark.slow) for s in range(24, 45))])
def test_there_and_back_through_changes_a_position_has_one_state(seed: int) -> None:
    """Random movements with pokes between them, then one pass from the beginning that makes the same pokes."""
    generator = random.Random(seed)
    text = exchanges.program(seed)
    replay = programs.replay_of(text, every=generator.choice((16, 100, 1000)), keep=generator.choice((3, 8, 64)))
    end = programs.replay_of(text).goto(END)
    digests: dict[int, set[str]] = {}
    for _ in range(MOVEMENTS):
        match generator.randrange(6):
            case 0 | 1:
                replay.goto(generator.randint(0, end))
            case 2:
                replay.step(count=generator.randint(1, 4))
            case 3:
                replay.back(generator.randint(1, 30))
            case 4:
                replay.goto(END)
            case _:
                if len(replay.pokes.made) > 1 and generator.random() < 0.3:
                    poke = replay.unpoke(generator.choice(list(replay.pokes.made)))
                else:
                    poke = _poke(replay, generator)
                    replay.poke(poke)
                digests = {at: found for at, found in digests.items() if at < poke.cycle}
        digests.setdefault(replay.position, set()).add(replay.digest())
    straight = programs.replay_of(text, every=1 << 40)
    for poke in sorted(replay.pokes.made.values(), key=lambda each: each.cycle):
        straight.advance(poke.cycle)
        if straight.position == poke.cycle:
            straight.poke(poke)
    for position in sorted(digests):
        straight.goto(position)
        assert digests[position] == {straight.digest()}, f"cycle {position}, seed {seed}"
    assert replay.goto(END) == straight.goto(END)
    assert replay.digest() == straight.digest() and replay.account == straight.account


@pytest.mark.parametrize("name", ["exchange", "mandelbrot", "texture_copy"])
def test_a_changed_run_is_that_of_a_changed_checkpoint(name: str) -> None:
    """Another way to the same end: a checkpoint at the cycle, changed by hand, and resumed."""
    run = programs.saved(name)
    cycle = run.end.cycles // 2
    node, found = Node(run.config), []
    node.load(run.program)
    node.run(run.program, save_at=cycle, save=found.append)
    changed = Node(run.config)
    changed.restore(found[0].state)
    lanes = np.arange(0, changed.lanes, 3)
    rows = changed.memory
    rows[:, ::3] ^= 0x5A
    changed.write_memory(0, rows)
    state = changed.snapshot() | {"run": found[0].state["run"]}
    checkpoint = Checkpoint(run.program.sha256, run.config.sha256, cycle, found[0].entry, state)
    wanted = Node(run.config)
    account = wanted.resume(run.program, checkpoint)
    replay = run.replay()
    replay.goto(END)
    replay.goto(cycle)
    replay.poke(Poke(cycle, "by hand", "memory", lanes, rows[:, ::3]))
    assert replay.goto(END) == account.total_cycles
    assert replay.node.digest() == wanted.digest() != run.end.digest
    run.check_end(replay)  # says nothing: it is another run


def test_a_change_of_one_pe_is_that_of_one_pe_and_can_be_taken_back() -> None:
    replay = programs.replay_of("range x[1]\nLD R, x\nADD R, #1\nST x, R\n")
    replay.goto(2)
    number = replay.poke(Poke(2, "R = 41", "R", np.array([5]), np.array([[41]], np.uint8)))
    replay.goto(END)
    assert replay.node.read_memory(0)[0].tolist()[4:7] == [1, 41, 1]
    replay.goto(0)
    replay.goto(END)
    assert replay.node.read_memory(0)[0].tolist()[4:7] == [1, 41, 1]
    replay.unpoke(number)
    assert replay.position == 3 and set(replay.node.read_memory(0)[0].tolist()) == {1}


def test_a_change_at_cycle_0_and_at_the_end_stays() -> None:
    replay = programs.replay_of("range x[1]\nLD R, x\nADD R, #1\nST x, R\n")
    lanes = np.array([0])
    replay.poke(Poke(0, "x = 9", "memory", lanes, np.array([[9]], np.uint8)))
    replay.goto(END)
    assert replay.node.read_memory(0)[0, 0] == 10 and replay.ended
    replay.poke(Poke(3, "x = 77", "memory", lanes, np.array([[77]], np.uint8)))
    assert replay.ended, "a change at the end leaves it the end"
    replay.back()
    assert replay.node.read_memory(0)[0, 0] == 9
    replay.goto(END)
    assert replay.node.read_memory(0)[0, 0] == 77
    replay.unpoke(1)
    assert replay.node.read_memory(0)[0, 0] == 77
    replay.unpoke(2)
    assert replay.node.read_memory(0)[0, 0] == 1


def test_what_cannot_be_recorded_is_refused() -> None:
    replay = programs.replay_of("LD R, #1\nLD R, #2\n")
    one = np.array([[1]], np.uint8)
    with pytest.raises(InputError, match="the run is at cycle 0, not 1"):
        replay.poke(Poke(1, "R = 1", "R", np.array([0]), one))
    with pytest.raises(InputError, match="outside the PE"):
        replay.poke(Poke(0, "x = 1", "memory", np.array([0]), one, 100_000))
    with pytest.raises(InputError, match="there is no poke 1"):
        replay.unpoke(1)
    assert not replay.pokes
