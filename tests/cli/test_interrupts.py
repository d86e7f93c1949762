"""Is an interrupt (Ctrl-C) ever lost? A command ends with 130 whenever it comes, and leaves nothing half written."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}

COMMANDS = {
    "run": "run mandelbrot --preset tiny --record r.npz",
    "tessellate": "tessellate teapot --samples 4 -o t.obj --preview t.png",
    "render": "render tea --size 64x48 --machine larrabee -o r.png",
    "verify": "verify 3 6 --jobs 2 --html v.html",
    "compare": "compare nut --size 32x24 -o c.png",
    "view": "view enneper --no-open --jobs 2",
    "sweep": "sweep tessellate enneper --set samples=2:5 --jobs 2 --out s.csv",
}
RESULTS = {"r.npz", "t.obj", "t.png", "r.png", "v.html", "c.png", "s.csv", "s.csv.lock"}

PROGRAM = """
import os, sys
from pixelflow.simd.interrupts import end_at_once
end_at_once()
os.write(int(sys.argv.pop(1)), b".")
from pixelflow.__main__ import process
sys.exit(process())
"""
"""The command, which says when an interrupt is no longer Python's own affair."""


def begun(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """Begin a command in a session of its own and wait until it is its own affair what an interrupt does."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(writer), *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=ENVIRONMENT, pass_fds=[writer],
        start_new_session=True,
    )  # fmt: skip
    os.close(writer)
    assert os.read(reader, 1) == b"."
    os.close(reader)
    return process


def length_of(name: str, folder: Path, most: float = 60) -> float:
    """Return for how many seconds a command works where it is not interrupted, ``most`` where that is more."""
    process, since = begun(COMMANDS[name].split(), folder), time.monotonic()
    try:
        _, err = process.communicate(timeout=10 if name == "view" else most)
        assert process.returncode == 0, err
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    return time.monotonic() - since


def check_moments(name: str, count: int, length: float, folder: Path, draw: random.Random) -> None:
    """Interrupt a command and all its processes, as a terminal does, at random moments of its first seconds."""
    words, done = COMMANDS[name].split(), 0
    for _ in range(20 * count):
        for each in folder.iterdir():
            each.unlink()
        moment = draw.uniform(0, length)
        process = begun(words, folder)
        try:
            out, err = process.communicate(timeout=moment)
            assert process.returncode == 0, err  # it was done sooner than the first time
            continue
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
        since = time.monotonic()
        out, err = process.communicate(timeout=600)
        state = f"{name} after {moment:.3f} of {length:.3f} s: {process.returncode}, {out!r}, {err!r}"
        assert process.returncode == 130, state
        assert b"Traceback" not in err and b"Exception" not in err and b"interrupted" in err, state
        assert {each.name for each in folder.iterdir()} <= RESULTS, state
        print(f"{name} {moment:.3f} s: {time.monotonic() - since:.2f} s later")
        done += 1
        if done == count:
            return
    raise AssertionError(f"{name} was interrupted {done} times only: it ends too soon")


@pytest.fixture(params=COMMANDS)
def name(request: pytest.FixtureRequest) -> str:
    """Each command whose libraries are installed."""
    if request.param == "view" and find_spec("uvicorn") is None:
        pytest.skip("needs uvicorn: pip install 'pixelflow-sim[view]'")
    return str(request.param)


def test_an_interrupt_at_a_random_moment_ends_a_command_with_130(name: str, tmp_path: Path) -> None:
    check_moments(name, 1, 1.2, tmp_path, random.Random(name))


@pytest.mark.slow
def test_interrupts_at_forty_random_moments_end_a_command_with_130(name: str, tmp_path: Path) -> None:
    check_moments(name, 40, length_of(name, tmp_path), tmp_path, random.Random(f"forty of {name}"))
