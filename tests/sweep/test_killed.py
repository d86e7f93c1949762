"""Are finished rows safe when two sweeps want one file, a worker is killed, or the sweep itself is?"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENDLESS = "param N = 1\nagain: LD R, #N\nif N > 2\n    JMP again\nend\n"
"""Points 1 and 2 end, the others do not."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and flock")


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def running(folder: Path) -> Iterator[Callable[[str], subprocess.Popen]]:
    """Start a sweep that never ends, and wait until its first two rows are in p.csv."""
    (folder / "prog.mc").write_text(ENDLESS)
    started: list[subprocess.Popen] = []

    def start(jobs: str) -> subprocess.Popen:
        words = ["sweep", "run", "prog.mc", "--preset", "tiny", "--jobs", jobs, "--out", "p.csv"]
        command = [sys.executable, "-m", "pixelflow.cli.main", *words, "--set", "param.N=1:4"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        started.append(subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment, start_new_session=True))
        path = folder / "p.csv"
        wait_until(lambda: path.exists() and path.read_text().count("\n") == 3)
        return started[0]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_second_sweep_on_one_file_is_refused_until_the_first_is_gone(sweep, running) -> None:
    first = running("1")
    before = Path("p.csv").read_bytes()
    second = ("--set", "param.N=1:4", "--shard", "2/4", "--out", "p.csv")
    result = sweep(*second)
    assert (result.code, result.out) == (3, "")
    assert "p.csv: error: is being written by another sweep" in result.err
    assert Path("p.csv").read_bytes() == before
    first.kill()
    first.wait()
    assert sweep(*second).code == 0, "a killed sweep holds no lock"
    assert Path("p.csv").read_bytes() == before
    assert not list(Path().glob(".*")), "nothing is left beside the table"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_workers_end_when_the_sweep_is_killed(running) -> None:
    first = running("2")
    children = Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text().split()
    assert len(children) >= 2

    def alive(child: str) -> bool:
        try:
            return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    assert all(alive(child) for child in children)
    first.kill()
    wait_until(lambda: not any(alive(child) for child in children))


@dataclass(frozen=True)
class Deadly:
    """A point that kills the process that measures it."""

    @property
    def identity(self) -> dict[str, str]:
        return {}

    def measure(self) -> dict[str, int]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}


def test_a_killed_worker_is_one_line_and_the_table_is_kept(sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweep("--set", "param.N=1:5", "--shard", "1/5", "--out", "p.csv").code == 0
    before = Path("p.csv").read_bytes()
    monkeypatch.setattr("pixelflow.cli.sweep.Subject.point", lambda self, words: Deadly())
    result = sweep("--set", "param.N=1:5", "--jobs", "2", "--out", "p.csv")
    assert (result.code, result.out) == (130, "")
    assert "the finished points are in p.csv; the same command continues from there" in result.err
    assert re.search(
        r"error: a process of --jobs was killed while it worked on point [2-5]; where memory was short, fewer --jobs",
        result.err,
    )
    assert "internal" not in result.err and "Traceback" not in result.err
    assert Path("p.csv").read_bytes() == before
