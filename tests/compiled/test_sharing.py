"""Do threads that share tiles leave the bits of one, whatever runs before, after or at the same time?"""

from __future__ import annotations

import os
import threading
import weakref

import numpy as np
import pytest

from pixelflow.node.kernels.macro_engine import MacroEngine
from pixelflow.simd.lanes import Shape
from pixelflow.simd.lanes.engine import Engine
from pixelflow.simd.lanes.native import threads as sharing
from pixelflow.simd.lanes.native.compiled_engine import Native
from tests.compiled.test_fused import expected, shape, start
from tests.differential.random_programs import program

LANES = 6 * 2048


@pytest.fixture(autouse=True)
def _share_at_once(monkeypatch) -> None:
    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine._START_THREADS_AFTER", 0.0)


def counter(make, rows: int = 2, lanes: int = LANES) -> tuple[Engine, list]:
    """Return an engine of zeros, and a program that adds 1 to row 0 a thousand times: 1,000 = 3 x 256 + 232."""
    engine = make(Shape(lanes, 32, rows, (), (), ("E",)), threads=3)

    def count(pe) -> None:
        pe.store(0, pe.add(pe.load(0), pe.word(1), pe.bit(False))[0])

    return engine, [engine.prepare(count)] * 1000


def functions_of(team: sharing.Team) -> sharing.Functions:
    """Return the native functions by which a team shares its work, for tests that come between two of them."""
    return team._functions


def unfinished_of(team: sharing.Team) -> list[int]:
    """Return the numbers of a team's runs that are begun and not seen to end."""
    return list(team._unfinished)


def test_every_tile_is_done_once_in_every_run(make) -> None:
    engine, actions = counter(make)
    for times in range(1, 40):
        engine.run(actions)
        if times % 3 == 0:  # also without a look at the state in between
            assert (engine.get_rows(0, 1) == 232 * times % 256).all()


def test_one_thread_continues_where_no_team_can_be_made(make, monkeypatch, caplog) -> None:
    def refuse(self) -> sharing.Team:
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(Native, "team", property(refuse))
    engine, actions = counter(make)
    for _ in range(3):
        engine.run(actions)
    assert engine.threads == len(caplog.messages) == 1
    assert (engine.get_rows(0, 1) == 232 * 3 % 256).all()


def test_runs_of_several_engines_overlap(make) -> None:
    """More engines than runs may be unfinished; none is looked at before all have begun."""
    made = [counter(make) for _ in range(sharing.RUNS + 3)]
    for times in (1, 2):
        for engine, actions in made:
            engine.run(actions)
        assert all((engine.get_rows(0, 1) == 232 * times % 256).all() for engine, _ in made)


def test_a_write_waits_for_the_run_before_it(make) -> None:
    engine, actions = counter(make)
    for value in range(20):
        engine.run(actions)
        engine.set_rows(0, np.full((1, LANES), value, np.uint8))
        engine.run(actions)
        assert (engine.get_rows(0, 1) == (value + 232) % 256).all()


@pytest.mark.parametrize("seed", [32, 33])
def test_random_programs(make, seed: int) -> None:
    """40 instructions 60 times, on a state in which some lanes are not enabled."""
    engine = start(make(shape(LANES), threads=2), seed, full=False)
    chain = engine.chain(engine.prepare(each.apply) for each in program(seed, 40))
    for _ in range(3):
        engine.run([chain] * 30)
    assert engine.digest() == expected(LANES, seed, 40, 90, full=False)


def test_threads_of_the_caller_do_not_disturb_each_other(make) -> None:
    """Two threads run separate engines: one of them finds the workers busy now and then."""
    made = [counter(make) for _ in range(2)]

    def run(which: int) -> None:
        engine, actions = made[which]
        for _ in range(30):
            engine.run(actions)

    callers = [threading.Thread(target=run, args=(which,)) for which in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((engine.get_rows(0, 1) == 232 * 30 % 256).all() for engine, _ in made)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_copy_of_the_process_has_workers_of_its_own(make) -> None:
    engine, actions = counter(make)
    engine.run(actions)
    child = os.fork()
    if not child:
        engine.run(actions)
        right = (engine.get_rows(0, 1) == 464 % 256).all()
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (engine.get_rows(0, 1) == 232).all()


def test_new_functions_while_others_work(make, monkeypatch) -> None:
    """The table of functions is outgrown several times while tiles are under way; each new action has a new form."""
    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine._TABLE", 8)
    engine, actions = counter(make, rows=64)
    for row in range(2, 64):
        engine.run(actions)
        form = [bool(row >> bit & 1) for bit in range(32)]
        engine.run([engine.prepare(lambda pe, row=row, form=form: pe.store(row, pe.pattern(form)))])
    assert (engine.get_rows(0, 1) == 232 * 62 % 256).all()
    rows = engine.get_rows(2, 62)
    lane = np.arange(LANES) % 32
    for row in range(2, 64):
        assert np.array_equal(rows[row - 2], np.where(row >> np.minimum(lane, 6) & (lane < 7), 255, 0))


@pytest.mark.parametrize("what", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_while_workers_are_called(make, monkeypatch, what: type[BaseException]) -> None:
    """Ctrl-C, or what else a signal's handler raises: the run is done all the same, once; the next one is right."""
    engine, actions = counter(make)
    team = team_after_a_run(make, engine, actions)
    publish = functions_of(team).publish

    def interrupted(*arguments):
        publish(*arguments)
        raise what

    monkeypatch.setattr(functions_of(team), "publish", interrupted)
    with pytest.raises(what):
        engine.run(actions)
    monkeypatch.setattr(functions_of(team), "publish", publish)
    assert (engine.get_rows(0, 1) == 464 % 256).all()
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 3 * 232 % 256).all()


def test_workers_that_nobody_woke_are_woken_for_the_next_run(make) -> None:
    """An interrupt may come between the look at who sleeps and the call that wakes them."""
    engine, actions = counter(make)
    publish, box = functions_of(team_after_a_run(make, engine, actions)).publish, sharing.WorkBox()
    for run in (1, 2):
        assert publish(box.address, run, 0, 0, 0, 0, bytes(8), 0, 2) == 0b11


def test_waiting_for_a_run_whose_place_others_have_taken(make, monkeypatch) -> None:
    """While one thread waits, another one sees that the run is done, and begins as many as there are places."""
    engine, actions = counter(make)
    other, others = counter(make, lanes=2 * 2048)
    engine.run(actions)
    team = make.native().team
    wait, looks = functions_of(team).wait, []

    def look(address: int, number: int, tiles: int, times: int) -> int:
        looks.append(number)
        assert looks.count(1) < 100, "this is waited for in vain"
        if len(looks) == 1:
            for _ in range(sharing.RUNS):
                other.run(others)
            other.settle()
            return 0
        return wait(address, number, tiles, times)

    monkeypatch.setattr(functions_of(team), "wait", look)
    engine.settle()
    assert (engine.get_rows(0, 1) == 232).all()
    assert (other.get_rows(0, 1) == sharing.RUNS * 232 % 256).all()


def test_a_look_of_another_thread_does_not_make_a_run_forgotten(make, monkeypatch) -> None:
    """While that looks at the state, the next run begins: the one after that must wait for it."""
    engine, actions = counter(make)
    engine.run(actions)
    team = make.native().team
    wait, begun = functions_of(team).wait, []

    def look(*arguments) -> int:
        found = wait(*arguments)
        if found and not begun:
            begun.append(True)
            engine.run(actions)
        return found

    monkeypatch.setattr(functions_of(team), "wait", look)
    engine.settle()
    assert unfinished_of(team) == [2]
    engine.settle()
    assert not unfinished_of(team)
    assert (engine.get_rows(0, 1) == 464 % 256).all()


def test_code_that_is_replaced_stays_until_nobody_is_in_it(make) -> None:
    """A chain holds the fused code of one that is gone; then it is fused itself, while others may be in that code."""
    engine, actions = counter(make)
    inner = engine.chain(actions)
    engine.fuse(inner)
    chain = engine.chain([inner])
    unfinished: list[int] = []
    team_after = make.native().team
    kept = weakref.ref(inner.holds[0], lambda _: unfinished.append(len(unfinished_of(team_after))))
    del inner
    engine.run([chain])
    assert kept() is not None
    assert unfinished_of(team_after) == [1]
    engine.fuse(chain)
    assert kept() is None
    assert unfinished == [0]
    engine.run([chain])
    assert (engine.get_rows(0, 1) == 464 % 256).all()


def test_coordinates_that_an_interrupt_came_into(make, monkeypatch) -> None:
    """Code that follows from the coordinates is made anew when they are set again, to the same ones."""
    engine = MacroEngine(Shape(2048, 32, 2, (), (), ("E", "L")), threads=1)
    engine.set_bit("E", np.ones(2048, bool))
    engine.set_bit("L", np.ones(2048, bool))
    x = np.arange(2048)
    engine.set_coordinates(x, x)
    chain = engine.chain([engine.prepare(lambda pe: pe.store(0, pe.affine(1, 0, 0, 1)[0]))] * 100)
    engine.fuse(chain)
    items = engine.items

    def interrupted(action):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "items", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.set_coordinates(x + 3, x)
    monkeypatch.setattr(engine, "items", items)
    engine.set_coordinates(x + 3, x)
    engine.run([chain])
    assert np.array_equal(engine.get_rows(0, 1)[0], (x + 3) % 256)


def test_threads_that_ask_at_the_same_time_get_numbers_of_their_own(make) -> None:
    """Whenever one of them looks at what it asks for, the other one asks too."""
    native, numbers, asking = make.native(), {}, []

    class Asked:
        def __hash__(self) -> int:
            other = f"asked by the other, {len(asking)}"
            asking.append(threading.Thread(target=lambda: numbers.update({other: native.number(other)})))
            asking[-1].start()
            asking[-1].join(0.05)
            return 1

    numbers["asked"] = native.number(Asked())
    for each in asking:
        each.join()
    assert len(set(numbers.values())) == 1 + len(asking)


def test_a_system_without_more_threads(make, monkeypatch) -> None:
    engine, actions = counter(make)
    start = threading.Thread.start

    def refuse(self) -> None:
        if self.name.startswith("lanes 1"):
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 232).all()
    monkeypatch.setattr(threading.Thread, "start", start)
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 464 % 256).all()


def test_a_process_does_not_wait_for_those_who_help(make) -> None:
    engine, actions = counter(make)
    engine.run(actions)
    helpers = [each for each in threading.enumerate() if each.name.startswith("lanes ")]
    assert helpers and all(each.daemon for each in helpers)


def test_nobody_shares_when_python_ends(make) -> None:
    engine, actions = counter(make)
    team = team_after_a_run(make, engine, actions)
    engine.run(actions)
    team.close()
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 3 * 232 % 256).all()
    team.close()  # as at the end of the process, which must not wait for itself


def test_an_interrupt_before_anything_began(make, monkeypatch) -> None:
    engine, actions = counter(make)
    team = team_after_a_run(make, engine, actions)
    publish = functions_of(team).publish

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(functions_of(team), "publish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.run(actions)
    monkeypatch.setattr(functions_of(team), "publish", publish)
    assert (engine.get_rows(0, 1) == 232).all()
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 464 % 256).all()


def team_after_a_run(make, engine: Engine, actions: list):
    """Return the team after one run."""
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 232).all()
    return make.native().team


def test_too_many_tiles_are_done_by_one(make, monkeypatch) -> None:
    monkeypatch.setattr("pixelflow.simd.lanes.native.threads.MOST_TILES", 5)
    engine, actions = counter(make)
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 232).all()
