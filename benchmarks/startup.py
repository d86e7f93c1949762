"""Start-up times: fresh processes from start to end, one after the other in every round.

A whole pass runs once with empty caches, so that all native code is compiled, and once with what an earlier process
kept. Byte code of Python is there in all of them, as after an installation.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.benchmark import Benchmark, Case, Note, median_ratio, rounds_text
from benchmarks.passes import MILLISECONDS, NAME, PATCHES, nets
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import choose
from pixelflow.simd.report import Column, Fact, Part, Table
from tessellation import Patch
from tessellation.surface.bpt import format_bpt

_BEFORE = """
import sys
from time import perf_counter
from benchmarks.engines import settle
from benchmarks.engines import instructions
from pixelflow.config import THESIS
from pixelflow.simd.lanes import make_engine
from pixelflow.node.pe_array import PeArray
mix, rows = instructions(), PeArray(THESIS, "rows").engine
"""

_SCOUT = (
    _BEFORE
    + """
engine, found = make_engine("compiled", rows.shape), []
for at, each in enumerate(mix):
    before = engine.functions_wanted
    engine.prepare(each.apply)
    if engine.functions_wanted > before:
        found.append(at)
print(*found)
"""
)
"""Prints the places in the mix of the first instruction of each form, each of which needs a native function."""

_RUN = (
    _BEFORE
    + """
some = [mix[int(at)] for at in sys.argv[1:]] or mix
begin = perf_counter()
engine = make_engine("auto", rows.shape)
engine.run([engine.prepare(each.apply) for each in some])
settle(engine)
print(perf_counter() - begin)
for each in mix:
    engine.prepare(each.apply)
if engine.name == "compiled" and engine.functions_wanted:
    sys.exit("the mix needs more native functions than were there")
"""
)
"""Prints what it takes from the choice of the engine, which is imported then, to the end of the mix or of the
instructions at some places in it; fails where the mix would need native code that is not there at the end."""


_SCRIPT = "import sys; from pixelflow.cli import process; sys.exit(process())"
"""The installed command."""


_COMMANDS = (
    "run mandelbrot -q",
    "tessellate teapot -o teapot.obj --preview teapot.png -q",
    "render still --machine larrabee --size 480x360 -o still.png -q",
)
"""Commands of a first session."""

_LONG = (
    "verify -q",
    "compare glass --size 64x48 --machine all -q",
    "render works --machine larrabee --size 1600x1200 -o works.png -q",
)
"""Commands that take long enough to wait for."""


def _there(line: str, folder: str) -> list[str]:
    """Return the words of a command, with its files in a folder."""
    return [str(Path(folder) / word) if word.endswith((".obj", ".png")) else word for word in line.split()]


def _command(
    name: str, arguments: list[str], environment: dict[str, str], *, empty: bool = False, prints: bool = False
) -> Callable[[], tuple[float, float]]:
    """Return what runs a command once: the seconds from start to end or those that it ``prints``, and the processor's.

    ``empty`` ones find no cache. It raises RuntimeError where the command fails.
    """

    def once() -> tuple[float, float]:
        with tempfile.TemporaryDirectory() as folder:
            own = environment | ({"PIXELFLOW_CACHE": str(Path(folder) / "native")} if empty else {})
            before, begin = _busy(), perf_counter()
            done = subprocess.run([sys.executable, *arguments], env=own, capture_output=True, text=True)
            taken = perf_counter() - begin
            if done.returncode:
                raise RuntimeError(f"{name} failed: {done.stderr[-500:]}")
            return float(done.stdout) if prints else taken, _busy() - before

    return once


def _busy() -> float:
    """Return the processor time of all children that have ended, in seconds; 0 where the system does not report it."""
    times = os.times()
    return times.children_user + times.children_system


def _one_of_each(environment: dict[str, str]) -> list[str]:
    """Return places in the mix, one for each native function that it needs; none where there is no native code."""
    with tempfile.TemporaryDirectory() as folder:
        environment = environment | {"PIXELFLOW_CACHE": folder}
        found = subprocess.run([sys.executable, "-c", _SCOUT], env=environment, capture_output=True, text=True)
    return found.stdout.split()


def _environment(folder: str) -> dict[str, str]:
    """Return the variables of processes that keep what they derive in a folder."""
    path = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return environment | {
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"),
        "PIXELFLOW_CACHE": str(Path(folder) / "native"),
    }


def _prepare_long(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(folder)
        lines = {f"pixelflow {line}": ["-c", _SCRIPT, *_there(line, folder)] for line in _LONG}
        yield "", [Case(name, _command(name, words, environment)) for name, words in lines.items()]


def _long_parts(cases: Sequence[Case]) -> list[Part]:
    columns = (
        Column("what", key="case", fixed=True),
        Column("ms [min..max]", MILLISECONDS, "seconds"),
        Column("of the processor", MILLISECONDS, "processor_seconds", unit="ms"),
    )
    rows = [(case.name, case.spread(), case.spread(1)) for case in cases]
    return [rounds_text(cases[0]), Table(columns, rows, key="commands.cases")]


def _prepare(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    """Yield the commands after each has run once; raises InputError where the compiled engine does not work."""
    missing = choose("compiled").note
    if missing is not None:
        raise InputError(f"this measures how soon the compiled engine runs: {missing.partition(';')[0]}")
    with tempfile.TemporaryDirectory() as folder:
        patches = Path(folder) / "bicubic.bpt"
        patches.write_text(format_bpt(Patch(net) for net in nets()), encoding="utf-8")
        environment = _environment(folder)
        command = ["-c", _SCRIPT]
        whole = [*command, "tessellate", str(patches), "--samples", "4"]
        commands: dict[str, tuple[list[str], dict[str, bool]]] = {
            "python -c pass": (["-c", "pass"], {}),
            "--help": ([*command, "--help"], {}),
            "interpreter ready, no cache": (["-c", _RUN, *_one_of_each(environment)], {"empty": True, "prints": True}),
            "its first 2,000 microinstructions": (["-c", _RUN], {"empty": True, "prints": True}),
            "pass, no cache": (whole, {"empty": True}),
            "pass, cache": (whole, {}),
            **{f"pixelflow {line}": ([*command, *_there(line, folder)], {}) for line in _COMMANDS},
            f"pixelflow {_COMMANDS[-1]}, no cache": ([*command, *_there(_COMMANDS[-1], folder)], {"empty": True}),
        }
        cases = [Case(name, _command(name, words, environment, **how)) for name, (words, how) in commands.items()]
        for case in cases:
            case.once()  # fills the folders of byte code and native code
        yield "", cases


def _parts(cases: Sequence[Case]) -> list[Part]:
    columns = (
        Column("what", key="case", fixed=True),
        Column("x python -c pass", "{:.1f}".format, "against_python"),
        Column("ms [min..max]", MILLISECONDS, "seconds"),
        Column("of the processor", MILLISECONDS, "processor_seconds", unit="ms"),
    )
    rows = [(case.name, median_ratio(case, cases[0]), case.spread(), case.spread(1)) for case in cases]
    head = f"fresh processes; {NAME}: {PATCHES} patches at 4x4 samples, with the report; {rounds_text(cases[0])}"
    return [
        Fact(head, key="startup.pass", value=NAME, wrap=False),
        Fact(None, key="startup.patches", value=PATCHES),
        Fact(None, key="startup.rounds", value=len(cases[0].times)),
        Table(columns, rows, key="startup.cases"),
        Fact(
            "interpreter ready: in its process, from the choice of an engine (llvmlite is imported then) to the end of "
            "one instruction of each form in the mix: all handlers of the mix are compiled, loaded and used. "
            "Its first 2,000: the same, but to the end of the whole mix, whose meanings are recorded and executed",
            wrap=False,
        ),
    ]


STARTUP = Benchmark(_prepare, _parts)
"""The times of every command, and the median of its same-round ratios to a Python that does nothing."""

COMMANDS = Benchmark(_prepare_long, _long_parts, uncounted=1)
"""The times of long commands, after a round that fills the folders."""
