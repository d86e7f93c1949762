"""Is what is measured the same, and in the same order, whoever measures it, and is a lost worker's item named?"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pixelflow.simd.errors import Fault, InputError, MissingPackageError, Place, SimulatorError, UsageError
from pixelflow.simd.workers import WorkerLost, WorkerPool, usable_threads

ERRORS = (
    UsageError("--jobs", "no number", "give one"),
    MissingPackageError("a page needs starlette", "view"),
    InputError([Fault("wrong", Place("f.mc", 3)), Fault("worse")]),
    WorkerLost("gone"),
)


def whose(number: int) -> tuple[int, int]:
    """Return the process that has an item, and how many threads it may use."""
    return os.getpid(), usable_threads()


def turned(number: int) -> int:
    """Return a number negated, the first ones last."""
    time.sleep(0.2 if number < 2 else 0.0)
    return -number


def seen(path: Path) -> Path:
    """Return a path when something is there."""
    while not path.exists():
        time.sleep(0.01)
    return path


def killed_at_three(number: int) -> int:
    """Kill the process that has item 3."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refused(number: int) -> int:
    """Raise an error whose constructor takes other arguments than its text."""
    raise UsageError("--set", f"{number} is wrong", "take another")


@pytest.mark.slow
def test_the_report_of_two_processes_is_that_of_one(verify) -> None:
    words = ("table 9", "figure 13", "section 2", "table 6", "--timing-only", "--json")
    one, two = verify(*words), verify(*words, "--jobs", "2")
    assert (one.code, one.out) == (two.code, two.out)


def test_results_come_in_the_order_of_the_items() -> None:
    items = range(5)
    assert list(WorkerPool(2).each(turned, items)) == list(WorkerPool().each(turned, items)) == [0, -1, -2, -3, -4]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_lost_process_names_its_item() -> None:
    with pytest.raises(WorkerLost, match="killed while it worked on claim 3; where memory was short, fewer --jobs"):
        list(WorkerPool(2).each(killed_at_three, range(6), "claim {}".format))


def test_processes_are_kept_from_call_to_call() -> None:
    with WorkerPool(2).kept() as workers:
        first, second = ({process for process, _ in workers.each(whose, range(8))} for _ in range(2))
        assert first == second and len(first) == 2 and os.getpid() not in first
        assert list(workers.each(turned, range(5))) == [0, -1, -2, -3, -4]
        threads = {each for _, each in workers.each(whose, range(8))}
        assert threads == {max(1, usable_threads() // 2)}, "they share the processors"
    with WorkerPool().kept() as alone:
        assert list(alone.each(whose, range(2))) == [(os.getpid(), usable_threads())] * 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_lost_process_is_replaced_where_processes_are_kept() -> None:
    with WorkerPool(2).kept() as workers:
        before = {process for process, _ in workers.each(whose, range(8))}
        with pytest.raises(WorkerLost, match="killed while it worked on claim 3"):
            list(workers.each(killed_at_three, range(6), "claim {}".format))
        after = {process for process, _ in workers.each(whose, range(8))}
        assert len(after) == 2 and len(after & before) == 1, "the other one is kept"
        os.kill(next(iter(after)), signal.SIGKILL)
        time.sleep(1)  # until it is seen that it has gone: then nothing was lost with it
        assert list(workers.each(abs, [-1, -2, -3])) == [1, 2, 3]
        last = {process for process, _ in workers.each(whose, range(8))}
        assert len(last) == 2 and len(last & after) == 1


def test_a_call_after_the_processes_have_ended_is_an_error_of_its_own(tmp_path: Path) -> None:
    here, later = tmp_path, tmp_path / "later"
    with WorkerPool(2).kept() as workers:
        begun = workers.each(seen, [here, later, later, later, later], "file {0.name}".format)
        assert next(begun) == here, "the others wait for their file, whichever process is slow"
        later.touch()
    with pytest.raises(WorkerLost, match="have been ended, and file later is not done"):
        list(begun)


def test_a_script_without_a_guard_does_not_begin_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from pixelflow.simd.workers import WorkerPool\nprint(list(WorkerPool(2).each(abs, [-1, -2, -3])))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1, 2, 3]\n", "")


def test_an_error_elsewhere_is_the_error_here() -> None:
    with pytest.raises(UsageError) as caught:
        list(WorkerPool(2).each(refused, range(2)))
    assert caught.value.faults[0].hint == "take another"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_travel(error: SimulatorError) -> None:
    there = pickle.loads(pickle.dumps(error))
    assert type(there) is type(error) and (there.args, there.__dict__) == (error.args, error.__dict__)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("6", "7", "--jobs", "2", "--stats", "s.json"), "what is watched must run in this process"),
    ],
)
def test_what_does_not_go_together_is_refused(verify, words: tuple[str, ...], says: str) -> None:
    found = verify(*words)
    assert found.code == 2 and says in found.err
