"""Do threads that share tiles leave the bits of one, whatever runs before, after or beside it?"""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from pixelflow.lanes import Shape
from pixelflow.lanes.compiled import sharing
from pixelflow.lanes.engine import Engine
from tests.compiled.test_fused import expected, shape, start
from tests.differential.random_programs import program

LANES = 6 * 2048


@pytest.fixture(autouse=True)
def _share_at_once(monkeypatch) -> None:
    monkeypatch.setattr("pixelflow.lanes.compiled.engine._WORTH_HIRING", 0.0)


def counter(make, rows: int = 2, lanes: int = LANES) -> tuple[Engine, list]:
    """Return an engine of zeros, and a program that adds 1 to row 0 a thousand times: 1,000 = 3 x 256 + 232."""
    engine = make(Shape(lanes, 32, rows, (), (), ("E",)), threads=3)

    def count(pe) -> None:
        pe.store(0, pe.add(pe.load(0), pe.word(1), pe.bit(False))[0])

    return engine, [engine.prepare(count)] * 1000


def test_every_tile_is_done_once_in_every_run(make) -> None:
    engine, actions = counter(make)
    for times in range(1, 40):
        engine.run(actions)
        if times % 3 == 0:  # also without a look at the state in between
            assert (engine.get_rows(0, 1) == 232 * times % 256).all()
    assert make.native().team._box.run == 39


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
    """Two threads run engines of their own: one of them finds the workers busy now and then."""
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
        os._exit(0 if right and make.native().team._box.run == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (engine.get_rows(0, 1) == 232).all()


def test_new_functions_while_others_work(make, monkeypatch) -> None:
    """The table of functions is outgrown several times while tiles are under way; each new action has a new form."""
    monkeypatch.setattr("pixelflow.lanes.compiled.native._TABLE", 8)
    engine, actions = counter(make, rows=64)
    for row in range(2, 64):
        engine.run(actions)
        form = [bool(row >> bit & 1) for bit in range(32)]
        engine.run([engine.prepare(lambda pe, row=row, form=form: pe.store(row, pe.pattern(form)))])
    assert (engine.get_rows(0, 1) == 232 * 62 % 256).all()
    assert [len(table) for table in make.native()._outgrown] == [8, 16, 32, 64]
    rows = engine.get_rows(2, 62)
    lane = np.arange(LANES) % 32
    for row in range(2, 64):
        assert np.array_equal(rows[row - 2], np.where(row >> np.minimum(lane, 6) & (lane < 7), 255, 0))


def test_an_interrupt_leaves_nobody_at_work(make, monkeypatch) -> None:
    """Ctrl-C while workers are called: the run is done all the same, the next one is right."""
    engine, actions = counter(make)
    team = team_after_a_run(make, engine, actions)
    publish = team._functions.publish

    def interrupted(*arguments):
        publish(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(team._functions, "publish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.run(actions)
    monkeypatch.setattr(team._functions, "publish", publish)
    assert (engine.get_rows(0, 1) == 464 % 256).all()
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 3 * 232 % 256).all()


def test_an_interrupt_before_anything_began(make, monkeypatch) -> None:
    engine, actions = counter(make)
    team = team_after_a_run(make, engine, actions)
    publish = team._functions.publish

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(team._functions, "publish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.run(actions)
    monkeypatch.setattr(team._functions, "publish", publish)
    assert (engine.get_rows(0, 1) == 232).all()
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 464 % 256).all()


def team_after_a_run(make, engine: Engine, actions: list):
    """Return the team when it has carried out one run."""
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 232).all()
    return make.native().team


def test_too_many_tiles_are_done_by_one(make, monkeypatch) -> None:
    monkeypatch.setattr("pixelflow.lanes.compiled.team.MOST_TILES", 5)
    engine, actions = counter(make)
    engine.run(actions)
    assert (engine.get_rows(0, 1) == 232).all()
    assert make.native().team._box.run == 0
