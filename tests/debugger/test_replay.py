"""Does a run that was taken back and forth look at every position like one that only went forwards?"""

from __future__ import annotations

import random

import numpy as np
import pytest

from microcode import assemble
from pixelflow.node import Node, Replay, SavedRun
from pixelflow.observe import Carried, Executed, RunBegan, RunEnded, Signalled, Waited
from pixelflow.simd.errors import CycleLimitError, DeadlockError, InputError, MachineFault
from tests.debugger import programs
from tests.streams import exchanges

POSITIONS = 8
MANY = 500
MOVEMENTS = 40
STEPS = 6
STARTS = 2
SEED = 1995


def _straight(run: SavedRun, positions: set[int]) -> dict[int, str]:
    """The digest at each position of a run that keeps no states and never turns."""
    replay = run.replay(every=1 << 40)
    found = {}
    for cycle in sorted(positions):
        replay.advance(cycle)
        found[cycle] = replay.digest()
    return found


def _back_lands_on_the_same_digest(name: str, count: int) -> None:
    run = programs.saved(name)
    generator = random.Random(SEED)
    starts = [generator.randint(0, run.end.cycles) for _ in range(count)]
    counts = [generator.choice((1, 2, 3, 50, 1000)) for _ in range(count)]
    replay = run.replay(every=256, keep=32)
    landed = []
    for start, number in zip(starts, counts, strict=True):
        assert replay.goto(start) == start
        position = replay.back(number)
        assert position < start or position == start == 0
        landed.append((position, replay.digest()))
    straight = _straight(run, {position for position, _ in landed})
    for position, digest in landed:
        assert digest == straight[position], f"cycle {position}, seed {SEED}"


@pytest.mark.parametrize("name", programs.NAMES)
def test_back_lands_on_the_same_digest(name: str) -> None:
    _back_lands_on_the_same_digest(name, POSITIONS)


@pytest.mark.slow
@pytest.mark.parametrize("name", programs.NAMES)
def test_back_lands_on_the_same_digest_from_500_positions(name: str) -> None:
    _back_lands_on_the_same_digest(name, MANY)


@pytest.mark.parametrize("name", [*programs.NAMES[:-1], pytest.param("pass", marks=pytest.mark.slow)])
def test_a_step_is_an_instruction_of_the_run(name: str) -> None:
    """Steps and steps back meet exactly the cycles in which an observed run begins instructions."""
    run = programs.saved(name)
    begun: dict[str | None, set[int]] = {None: set()}

    def note(event: Executed) -> None:
        if run.program.instructions[event.index].declaration.unit.name != "SEQUENCER":
            begun[None].add(event.cycle)
            begun.setdefault(event.stream, set()).add(event.cycle)

    run.replay(watch=lambda bus: bus.subscribe(note, Executed)).goto(run.end.cycles)
    replay = run.replay()
    generator = random.Random(SEED)
    for stream, cycles in begun.items():
        for start in [generator.randrange(run.end.cycles) for _ in range(STARTS)]:
            replay.goto(start)
            later = [cycle for cycle in sorted(cycles) if cycle > start][:STEPS]
            for cycle in later:
                assert replay.step(stream) == cycle
            if later:
                earlier = [cycle for cycle in sorted(cycles) if cycle < later[-1]]
                for cycle in reversed(earlier[-STEPS:]):
                    assert replay.back(1, stream) == cycle


@pytest.mark.parametrize("seed", [20, *(pytest.param(s, marks=pytest.mark.slow) for s in range(21, 45))])
def test_random_movements_through_random_programs(seed: int) -> None:
    """Whatever the movements and however few states are kept, a position has one digest, and the run its end."""
    generator = random.Random(seed)
    text = exchanges.program(seed)
    node = Node(programs.SMALL)
    program = assemble(text)
    node.load(program)
    run = node.run(program)
    replay = programs.replay_of(text, every=generator.choice((16, 100, 1000)), keep=generator.choice((3, 8, 64)))
    digests: dict[int, set[str]] = {}
    for _ in range(MOVEMENTS):
        stream = generator.choice((None, "eigc", "tigc"))
        match generator.randrange(10):
            case 0 | 1 | 2 | 3:
                replay.goto(generator.randint(0, run.total_cycles))
            case 4 | 5 | 6:
                replay.step(stream, generator.randint(1, 4))
            case 7 | 8:
                replay.back(generator.randint(1, 30), stream)
            case _:
                replay.goto(1 << 40)
        digests.setdefault(replay.position, set()).add(replay.digest())
    straight = programs.replay_of(text, every=1 << 40)
    for position in sorted(digests):
        straight.advance(position)
        assert digests[position] == {straight.digest()}, f"cycle {position}, seed {seed}"
    replay.goto(1 << 40)
    assert replay.node.digest() == node.digest() and replay.account == run


@pytest.mark.parametrize("name", ["mandelbrot", "exchange"])
def test_a_position_holds_what_a_saved_run_holds_there(name: str) -> None:
    """Another way to the same place: `Node.run` with ``save_at``."""
    run = programs.saved(name)
    replay = run.replay()
    for cycle in (1, run.end.cycles // 3, run.end.cycles - 1):
        node = Node(run.config)
        node.load(run.program)
        found = []
        node.run(run.program, save_at=cycle, save=found.append)
        replay.goto(run.end.cycles)
        replay.goto(cycle)
        ours, wanted = replay.node.array.snapshot(), found[0].state["array"]
        assert all(np.array_equal(ours[key], values) for key, values in wanted.items()), f"cycle {cycle}"


@pytest.mark.parametrize("name", ["mandelbrot", "texture_copy"])
@pytest.mark.parametrize("engine", ["bit-serial"])
def test_another_engine_has_the_same_digests(name: str, engine: str) -> None:
    run = programs.saved(name)
    one, other = run.replay(), run.replay(engine)
    for cycle in (run.end.cycles // 2, 100):
        one.goto(cycle)
        other.goto(cycle)
        assert one.digest() == other.digest()


@pytest.mark.parametrize("setting", ["sdram.refresh=true", "sdram.equal_slots=false", "sdram.check_commands=true"])
def test_a_run_that_schedules_every_access_goes_back_too(setting: str) -> None:
    run = programs.saved("texture_copy", setting)
    replay = run.replay(every=64)
    half = run.end.cycles // 2
    replay.goto(half)
    digest = replay.digest()
    assert replay.goto(1 << 40) == run.end.cycles and replay.node.digest() == run.end.digest
    replay.goto(half)
    assert replay.digest() == digest


def test_states_are_thinned_out_as_the_run_gets_long() -> None:
    replay = programs.saved("exchange").replay(every=16, keep=8)
    replay.goto(1 << 40)
    kept = sorted(replay._states)
    assert kept[0] == 0 and 4 <= len(kept) <= 8
    assert kept[-1] - kept[-2] > 16, "the distance has doubled"


STOPPED = {
    "fault": ("range x[4]\nLD R, #1\nCALL f, [380]\nproc f(a)\nLD R, a[3]\nLD R, a[4]\nend\n", MachineFault, 2),
    "control": ("LD R, #1\nLD R, #2\nRET\n", MachineFault, 2),
    "deadlock of one": ("LD R, #1\nWAIT 1\n", DeadlockError, 2),
    "deadlock": ("LD R, #1\nLD R, #2\nWAIT 1\nstream tigc\nWAIT 0\n", DeadlockError, 3),
    "two streams at the ports": (
        "overlay out[32] at 352\nSTI out, #7\nEMC_MarkWrite\nSIGNAL 0\nLOOP 5\nLD R, #1\nENDL\nSTI out, #0\nWAIT 1\n"
        "stream tigc\nWAIT 0\nTAS_MemWrBlock4 2\nSIGNAL 1\n",
        MachineFault,
        7,
    ),
    "limit": ("LOOP 100\nEMC_TreeLTZero_Li 0, 2, 1, 0, -8\nENDL\n", CycleLimitError, 99),
}


@pytest.mark.parametrize("kind", STOPPED)
def test_a_run_that_is_stopped_can_be_looked_at(kind: str) -> None:
    text, error, last = STOPPED[kind]
    replay = programs.replay_of(text, max_cycles=100)
    assert replay.goto(1 << 40) == last == replay.end
    assert replay.ended and isinstance(replay.stopped, error)
    digest, message = replay.digest(), str(replay.stopped)
    assert replay.account.reason == {MachineFault: "fault", DeadlockError: "deadlock"}.get(error, "cycle limit")
    assert replay.back() < last and replay.stopped is None and not replay.ended
    stepped = programs.replay_of(text, max_cycles=100)
    while not stepped.ended:
        stepped.step()
    replay.goto(1 << 40)
    for other in (replay, stepped):
        assert (other.position, other.digest(), str(other.stopped)) == (last, digest, message)


@pytest.mark.parametrize("name", [pytest.param("mandelbrot", marks=pytest.mark.slow), "exchange"])
def test_listeners_hear_everything_once(name: str) -> None:
    kinds = (Executed, Waited, Signalled, Carried, RunBegan, RunEnded)
    run = programs.saved(name)
    heard: list = []
    replay = run.replay(watch=lambda bus: bus.subscribe(heard.append, *kinds))
    generator = random.Random(SEED)
    for _ in range(10):
        replay.goto(generator.randrange(run.end.cycles))
        replay.back(2)
        replay.step(count=3)
    replay.goto(1 << 40)
    replay.back()
    replay.goto(1 << 40)
    wanted: list = []
    node = Node(run.config)
    node.load(run.program)
    node.bus.subscribe(wanted.append, *kinds)
    node.run(run.program)

    def plain(events: list) -> list[str]:
        return sorted(repr(each) for each in events if not isinstance(each, RunBegan | RunEnded))

    assert plain(heard) == plain(wanted)
    ends = [(type(each), each.cycle) for each in heard if isinstance(each, RunBegan | RunEnded)]
    assert ends == [(RunBegan, 0), (RunEnded, run.end.cycles)]
    assert heard[-1].reason == "halt" and heard[-1].account == wanted[-1].account


def test_with_retell_listeners_hear_what_is_executed_again() -> None:
    run = programs.saved("panel_sum")
    heard: list[Executed] = []
    replay = run.replay(watch=lambda bus: bus.subscribe(heard.append, Executed), retell=True)
    replay.goto(1 << 40)
    once = len(heard)
    replay.goto(0)
    replay.goto(1 << 40)
    assert len(heard) == 2 * once


def test_an_interrupt_leaves_the_run_whole() -> None:
    run = programs.saved("exchange")
    armed = [False]

    def interrupt(event: Executed) -> None:
        if armed[0] and event.cycle > 3000:
            armed[0] = False
            raise KeyboardInterrupt

    replay = run.replay(watch=lambda bus: bus.subscribe(interrupt, Executed))
    replay.goto(2500)
    digest = replay.digest()
    armed[0] = True
    with pytest.raises(KeyboardInterrupt):
        replay.goto(1 << 40)
    assert 2500 <= replay.position < run.end.cycles
    replay.goto(2500)
    assert replay.digest() == digest
    replay.goto(1 << 40)
    assert replay.node.digest() == run.end.digest


def test_bad_positions_and_streams_are_refused() -> None:
    replay = programs.replay_of("LD R, #1\n")
    with pytest.raises(InputError, match="a run begins at cycle 0"):
        replay.goto(-1)
    with pytest.raises(InputError, match=r"no stream 'tigc' runs here \(there is: eigc\)"):
        replay.step("tigc")
    with pytest.raises(ValueError, match="every 0 cycles"):
        Replay(replay.node, replay.program, every=0)


@pytest.mark.parametrize("name", ["texture_copy", "exchange"])
def test_a_stream_waits_for_what_the_run_says_it_waited_for(name: str) -> None:
    replay, waits = programs.saved(name).replay(), []
    with replay.hearing(waits.append, Waited):
        end = replay.goto(1 << 40)
    within: dict[int, list[tuple[str, str]]] = {}
    for each in waits:
        for cycle in {each.cycle + 1, (each.cycle + each.end) // 2, each.end - 1}:
            if each.cycle < cycle < each.end:
                within.setdefault(cycle, []).append((each.stream, each.reason))
    assert {reason for found in within.values() for _, reason in found} >= {"sem 1", "transfer"}
    for cycle, found in sorted(within.items()):
        assert replay.goto(cycle) == cycle
        for stream, reason in found:
            assert replay.runner.waits_for(stream, cycle) == reason
    touched = {cycle for each in waits for cycle in range(each.cycle, each.end + 1) if each.stream == "tigc"}
    for cycle in sorted(set(range(end)) - touched)[:50]:
        replay.goto(cycle)
        assert replay.runner.waits_for("tigc", cycle) is None
