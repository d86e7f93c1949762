"""What a user waits for: fresh processes from start to end, one after the other in every round.

A whole pass runs once with empty caches, so that all native code is compiled, and once with what an earlier process
kept. Byte code of Python is there in all of them, as after an installation.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from pixelflow.cli.bench_pass import NAME, PATCHES, nets
from pixelflow.cli.bench_streams import milliseconds, spread
from pixelflow.cli.screen import Column, Screen, counted

__all__ = ["show_startup", "startup"]

_BEFORE = """
import sys
from time import perf_counter
from pixelflow.cli.bench_engines import instructions
from pixelflow.config import THESIS
from pixelflow.simd.lanes import make_engine
from pixelflow.node.array.pe_array import PeArray
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
engine.settle()
print(perf_counter() - begin)
for each in mix:
    engine.prepare(each.apply)
if engine.name == "compiled" and engine.functions_wanted:
    sys.exit("the mix needs more native functions than were there")
"""
)
"""Prints what it takes from the choice of the engine, which is imported then, to the end of the mix or of the
instructions at some places in it; fails where the mix would need native code that is not there at the end."""


_SCRIPT = "import sys; from pixelflow.cli.main import process; sys.exit(process())"
"""What the installed command does."""


class _Case:
    """One command, and what it took: from start to end, of the processor, and what it printed itself."""

    def __init__(self, name: str, arguments: list[str], *, empty: bool = False, prints: bool = False) -> None:
        self.name, self.arguments, self.empty, self.prints = name, arguments, empty, prints
        self.seconds: list[float] = []
        self.busy: list[float] = []

    def measure(self, environment: dict[str, str]) -> None:
        """Run once; raises RuntimeError where the command fails."""
        with tempfile.TemporaryDirectory() as folder:
            environment = environment | ({"PIXELFLOW_CACHE": str(Path(folder) / "native")} if self.empty else {})
            before, begin = _busy(), perf_counter()
            done = subprocess.run([sys.executable, *self.arguments], env=environment, capture_output=True, text=True)
            taken = perf_counter() - begin
            if done.returncode:
                raise RuntimeError(f"{self.name} failed: {done.stderr[-500:]}")
            self.seconds.append(float(done.stdout) if self.prints else taken)
            self.busy.append(_busy() - before)


def _busy() -> float:
    """Return the processor time of all children that have ended, in seconds; 0 where the system does not tell."""
    times = os.times()
    return times.children_user + times.children_system


def _one_of_each(environment: dict[str, str]) -> list[str]:
    """Return places in the mix, one for each native function that it needs; none where there is no native code."""
    with tempfile.TemporaryDirectory() as folder:
        environment = environment | {"PIXELFLOW_CACHE": folder}
        found = subprocess.run([sys.executable, "-c", _SCOUT], env=environment, capture_output=True, text=True)
    return found.stdout.split()


def startup(rounds: int, note: Callable[[str], None]) -> dict[str, Any]:
    """Return the times of every case, and the median of its same-round ratios to a Python that does nothing.

    Raises InputError where the compiled engine does not work.
    """
    import pixelflow
    from pixelflow.simd.errors import InputError
    from pixelflow.simd.lanes import choose
    from tessellation import Patch
    from tessellation.bpt import format_bpt

    missing = choose("compiled").note
    if missing is not None:
        raise InputError(f"this measures how soon the compiled engine runs: {missing.partition(';')[0]}")
    with tempfile.TemporaryDirectory() as folder:
        patches = Path(folder) / "bicubic.bpt"
        patches.write_text(format_bpt(Patch(net) for net in nets()), encoding="utf-8")
        path = [str(Path(pixelflow.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"),
            "PIXELFLOW_CACHE": str(Path(folder) / "native"),
        }
        command = ["-c", _SCRIPT]
        whole = [*command, "tessellate", str(patches), "--samples", "4"]
        cases = [
            _Case("python -c pass", ["-c", "pass"]),
            _Case("--help", [*command, "--help"]),
            _Case("interpreter ready, no cache", ["-c", _RUN, *_one_of_each(environment)], empty=True, prints=True),
            _Case("its first 2,000 microinstructions", ["-c", _RUN], empty=True, prints=True),
            _Case("pass, no cache", whole, empty=True),
            _Case("pass, cache", whole),
        ]
        for case in cases:
            case.measure(environment)  # fills the folders of byte code and native code
            case.seconds.clear()
            case.busy.clear()
        for done in range(rounds):
            for case in cases:
                case.measure(environment)
            note(f"round {done + 1} of {rounds}")
    bare = cases[0]
    return {
        "pass": NAME,
        "patches": PATCHES,
        "rounds": rounds,
        "cases": [
            {
                "case": case.name,
                "seconds": spread(case.seconds),
                "processor_seconds": spread(case.busy),
                "against_python": statistics.median(s / b for s, b in zip(case.seconds, bare.seconds, strict=True)),
            }
            for case in cases
        ],
    }


def show_startup(screen: Screen, found: dict[str, Any]) -> None:
    """Print what fresh processes took."""
    screen.text(
        f"fresh processes; {found['pass']}: {found['patches']} patches at 4x4 samples, with the report; "
        f"{counted(found['rounds'], 'interleaved round')}, medians"
    )
    names = ("x python -c pass", "ms [min..max]", "of the processor, ms")
    screen.table(
        [Column("what", fixed=True), *(Column(name, numbers=True) for name in names)],
        [
            (
                each["case"],
                f"{each['against_python']:.1f}",
                milliseconds(each["seconds"]),
                milliseconds(each["processor_seconds"]),
            )
            for each in found["cases"]
        ],
    )
    screen.text(
        "interpreter ready: in its process, from the choice of an engine (llvmlite is imported then) to the end of one "
        "instruction of each form in the mix: all handlers of the mix are compiled, loaded and used. "
        "Its first 2,000: the same, but to the end of the whole mix, whose meanings are recorded and carried out"
    )
