"""Is an interrupt (Ctrl-C) ever lost? A command ends with 130 whenever it comes, and leaves nothing half written."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from pixelflow.simd.workers import kept_processes

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
from pixelflow.cli.interrupts import end_at_once
end_at_once()
os.write(int(sys.argv.pop(1)), b".")
from pixelflow.cli import process
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


def has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has called exit, also where the system still takes its memory away."""
    place = Path(f"/proc/{process.pid}/cmdline")
    return process.poll() is not None or (place.exists() and place.read_bytes() == b"")


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
            gone = has_exited(process)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
        since = time.monotonic()
        out, err = process.communicate(timeout=600)
        if gone:
            continue
        after = time.monotonic() - since
        state = f"{name} at {moment:.3f} of {length:.3f} s, {after:.3f} s: {process.returncode}, {out!r}, {err!r}"
        # When all is written and Python takes itself down it dies of the signal, which a shell shows as 130 too.
        assert process.returncode == 130 or (process.returncode == -signal.SIGINT and b"interrupted" not in err), state
        assert b"Traceback" not in err and b"Exception" not in err, state
        assert {each.name for each in folder.iterdir()} <= RESULTS, state
        print(f"{name} at {moment:.3f} s: {process.returncode}, {after:.3f} s later")
        done += 1
        if done == count:
            return
    raise AssertionError(f"{name} was interrupted {done} times only: it ends too soon")


@pytest.fixture(
    # One that draws and one with processes ask what the others of their kinds do.
    params=[
        pytest.param(each, marks=[pytest.mark.slow] * (each in ("render", "verify", "compare"))) for each in COMMANDS
    ]
)
def name(request: pytest.FixtureRequest) -> str:
    """Each command whose libraries are installed."""
    if request.param == "view" and find_spec("uvicorn") is None:
        pytest.skip("needs uvicorn: pip install 'pixelflow-sim[view]'")
    return str(request.param)


def test_an_interrupt_at_a_random_moment_ends_a_command_with_130(name: str, tmp_path: Path) -> None:
    check_moments(name, 1, 1.2, tmp_path, random.Random(name))


def interrupted_when_ready(*words: str, path: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run Python, which finds libraries at a path first, and interrupt it when it says so on standard error."""
    environment = dict(ENVIRONMENT)
    if path is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(path), ENVIRONMENT["PYTHONPATH"]])
    command = [sys.executable, *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    assert process.stderr.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


LIBRARY = r"""
import os, time
from types import SimpleNamespace
def wait():
    os.write(2, b"ready\n")
    time.sleep(60)
{at_import}
util = SimpleNamespace(log=SimpleNamespace(handlers=[0]))
mesh = SimpleNamespace(vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces=[[0, 1, 2]])
def load(file, **options):
    {at_load}
    return mesh
"""


@pytest.mark.parametrize("name", ["argparse", "numpy"])
def test_an_interrupt_ends_a_command_that_is_still_imported(name: str, tmp_path: Path) -> None:
    """One library is imported by every command, the other by this one; each is one that catches everything."""
    library = LIBRARY.format(at_import="try: wait()\nexcept BaseException: os._exit(0)", at_load="pass")
    (tmp_path / f"{name}.py").write_text(library, encoding="utf-8")
    found = interrupted_when_ready("-m", "pixelflow", "run", "mandelbrot", path=tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (130, b"", b"interrupted\n")


CATCHES = {
    "in its import": ("try: wait()\nexcept BaseException: pass", "pass"),
    "in its import, as another error": ("try: wait()\nexcept BaseException: raise ImportError", "pass"),
    "in its reader": ("", "try: wait()\n    except BaseException: pass"),
    "in its reader, as another error": ("", "try: wait()\n    except BaseException: raise ValueError"),
}


@pytest.mark.parametrize(
    "where", [pytest.param(each, marks=[pytest.mark.slow] * (each != "in its reader")) for each in CATCHES]
)
def test_a_library_that_catches_everything_keeps_no_interrupt(where: str, tmp_path: Path) -> None:
    """As trimesh does around what it can do without: its mesh would be drawn, or be called damaged."""
    at_import, at_load = CATCHES[where]
    library = LIBRARY.format(at_import=at_import, at_load=at_load)
    (tmp_path / "trimesh.py").write_text(library, encoding="utf-8")
    (tmp_path / "t.obj").write_text("v 0 0 0\n", encoding="utf-8")
    words = ["render", str(tmp_path / "t.obj"), "--size", "16x16", "-o", str(tmp_path / "t.png")]
    found = interrupted_when_ready("-m", "pixelflow", *words, path=tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (130, b"", b"interrupted\n")
    assert not (tmp_path / "t.png").exists()


FINALISER = """
import os, sys, time
from pixelflow.cli import main
class Slow:
    def __del__(self):
        os.write(2, b"ready\\n")
        time.sleep(60)
def run(args, screen):
    Slow()
    time.sleep(60)
    return 0
from pixelflow.cli import about
about.run = run
sys.argv[1:] = ["about"]
sys.exit(main.process())
"""


def test_an_interrupt_in_a_finaliser_is_repeated() -> None:
    """Python drops the exceptions of finalisers, with a word on standard error."""
    found = interrupted_when_ready("-c", FINALISER)
    assert (found.returncode, found.stdout, found.stderr) == (130, b"", b"interrupted\n")


BEGINNING = """
import os, signal, sys
from pixelflow.simd import workers as pool
from concurrent.futures import ProcessPoolExecutor
submit = ProcessPoolExecutor.submit
def interrupted(executor, work, *words):
    future = submit(executor, work, *words)
    if work is pool._nothing:
        os.kill(os.getpid(), signal.SIGINT)  # comes before the call returns where it does not wait
        process, = executor._processes.values()
        masks = dict(line.split() for line in open(f"/proc/{process.pid}/status") if line.startswith("Sig"))
        sets = int(masks["SigBlk:"], 16) | int(masks["SigIgn:"], 16)
        os.write(2, b"deaf\\n" if sets >> signal.SIGINT - 1 & 1 else b"hears\\n")
    return future
ProcessPoolExecutor.submit = interrupted
from pixelflow.cli import main
if __name__ == "__main__":
    sys.argv[1:] = "sweep tessellate enneper --set samples=2:3 --jobs 2 --preset tiny -q".split()
    sys.exit(main.process())
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the masks of a process, as Linux tells them")
def test_an_interrupt_while_processes_begin_waits_and_they_are_deaf_to_it() -> None:
    command = [sys.executable, "-c", BEGINNING]
    found = subprocess.run(command, capture_output=True, env=ENVIRONMENT, timeout=600)
    assert (found.returncode, found.stdout, found.stderr) == (130, b"", b"deaf\ndeaf\ninterrupted\n")


@pytest.mark.slow
def test_interrupts_at_forty_random_moments_end_a_command_with_130(name: str, tmp_path: Path) -> None:
    check_moments(name, 40, length_of(name, tmp_path), tmp_path, random.Random(f"forty of {name}"))


def test_processes_and_what_waits_for_them_have_ended_when_an_interrupt_goes_on() -> None:
    """A thread that still waited would close what Python's own end writes to, with a traceback now and then."""
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt), kept_processes(1) as processes:
        assert processes.one(abs, -1, "") == len(multiprocessing.active_children()) == 1
        raise KeyboardInterrupt
    assert not set(threading.enumerate()) - before and not multiprocessing.active_children()
