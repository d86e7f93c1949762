"""Is what is measured the same, and in the same order, whoever measures it, and is a lost worker's item named?"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pixelflow.simd.errors import Fault, InputError, MissingPackageError, Place, SimulatorError, UsageError
from pixelflow.simd.workers import KeptProcesses, WorkerLost, WorkerPool, kept_processes, usable_threads

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
    """Return a number negated, the first ones later than the others."""
    time.sleep(0.2 if number < 2 else 0.0)
    return -number


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


def test_results_come_with_their_places() -> None:
    assert sorted(WorkerPool(2).finished(turned, range(5))) == list(WorkerPool().finished(turned, range(5)))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_lost_process_names_its_item() -> None:
    with pytest.raises(WorkerLost, match="killed while it worked on claim 3; where memory was short, fewer --jobs"):
        list(WorkerPool(2).finished(killed_at_three, range(6), "claim {}".format))


def at_once(processes: KeptProcesses, work: Callable, items: Sequence) -> list:
    """Return the results of items that as many threads ask for."""
    with ThreadPoolExecutor(len(items)) as threads:
        return list(threads.map(lambda item: processes.one(work, item, f"item {item}"), items))


def test_processes_are_kept_from_item_to_item_and_share_the_processors() -> None:
    script = vars(sys.modules["__main__"])
    before = script.get("__file__"), script["__spec__"]
    with kept_processes(2) as processes:
        assert not multiprocessing.active_children(), "they begin with the first item"
        assert at_once(processes, turned, range(5)) == [0, -1, -2, -3, -4]
        first, second = ({each for each, _ in at_once(processes, whose, range(8))} for _ in range(2))
        assert first == second and len(first) == 2 and os.getpid() not in first
        assert processes.one(whose, 1, "")[1] == max(1, usable_threads() // 2)
    assert (script.get("__file__"), script["__spec__"]) == before, "hidden only while each begins"
    assert not multiprocessing.active_children()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_lost_process_is_replaced_where_processes_are_kept() -> None:
    with kept_processes(1) as processes:
        before, _ = processes.one(whose, 1, "")
        with pytest.raises(WorkerLost, match="killed while it worked on item 3"):
            processes.one(killed_at_three, 3, "item 3")
        after, _ = processes.one(whose, 1, "")
        assert after != before
        os.kill(after, signal.SIGKILL)
        time.sleep(1)  # until it is seen that it has gone: then nothing was lost with it
        assert processes.one(whose, 1, "")[0] not in (before, after)


@pytest.mark.parametrize("used", [False, True])
def test_an_item_after_the_processes_have_ended_is_an_error_of_its_own(used: bool) -> None:
    with kept_processes(1) as processes:
        if used:
            processes.one(whose, 1, "")
    with pytest.raises(WorkerLost, match="have been ended"):
        processes.one(whose, 1, "")
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("wait", [0.0, 0.002, 0.01])
def test_a_process_that_is_asked_for_while_all_are_ended_does_not_outlive_them(wait: float) -> None:
    def ask() -> None:
        with contextlib.suppress(WorkerLost):
            processes.one(time.sleep, 0.1, "")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    with contextlib.suppress(KeyboardInterrupt), kept_processes(3) as processes:
        for each in threads:
            each.start()
        time.sleep(wait)
        raise KeyboardInterrupt
    assert not multiprocessing.active_children()
    for each in threads:
        each.join()
    assert not multiprocessing.active_children()


def test_a_script_without_a_guard_does_not_begin_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from pixelflow.simd.workers import WorkerPool\nprint(sorted(WorkerPool(2).finished(abs, [-1, -2, -3])))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[(0, 1), (1, 2), (2, 3)]\n", "")


def test_an_error_elsewhere_is_the_error_here() -> None:
    with pytest.raises(UsageError) as caught:
        list(WorkerPool(2).finished(refused, range(2)))
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
