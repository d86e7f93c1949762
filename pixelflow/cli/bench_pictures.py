"""Pictures a second of the page's maker: the teapot that turns, tessellated and drawn anew for each, at 320x240.

The same pictures are made with the regions in this process, whose native code has all threads, and in as many processes
as there are processors. Each round makes one picture in every way, from further around.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

from microcode import assemble
from pixelflow.cli.bench_passes import MILLISECONDS, NAME, PASS, PASS_NAME, PATCHES, nets
from pixelflow.cli.watching import known_of
from pixelflow.cli.workers import WorkerPool
from pixelflow.config import THESIS
from pixelflow.node import Node
from pixelflow.observe.node_tracer import NodeTracer
from pixelflow.simd.benchmark import Benchmark, Case, Note, median_ratio, ratios, rounds_text
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import choose
from pixelflow.simd.report import Column, Fact, Part, Table, fixed, number, spread
from pixelflow.simd.trace import Trace, TraceClock
from pixelflow.simd.trace.formats import FORMATS, Format
from pixelflow.simd.workers import Workers, usable_threads
from pixelflow.view.alive import PIXELFLOW, FrameMaker, FrameOrder
from tessellation import Patch, load
from tessellation.microprogram.method import SCHEDULES
from tessellation.picture import View
from tessellation.surface.bpt import format_bpt

_MODEL, _SIZE = "teapot", (320, 240)
_SAMPLES = (2, 4, 8)
_TURN = 3.0
"""Degrees from one picture to the next."""
_UNCOUNTED = 3
"""Rounds before those that count: the node gets its patches, native code is fetched."""


def _prepare(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    jobs = max(2, usable_threads())
    with WorkerPool(jobs).kept() as pool:
        ways: tuple[tuple[int, Workers], ...] = ((1, WorkerPool()), (jobs, pool))
        yield "", [_case(samples, processes, workers) for samples in _SAMPLES for processes, workers in ways]


def _case(samples: int, processes: int, workers: Workers) -> Case:
    about: dict[str, int] = {"samples": samples, "processes": processes}
    return Case("", _once(FrameMaker(_MODEL, load(_MODEL).patches, workers), samples), about)


def _once(maker: FrameMaker, samples: int) -> Callable[[], tuple[float]]:
    width, height = _SIZE
    turned = iter(range(1 << 30))

    def once() -> tuple[float]:
        view = View(azimuth=_TURN * next(turned), elevation=25, width=width, height=height)
        begin = perf_counter()
        maker.draw(FrameOrder(samples, SCHEDULES[0], None, PIXELFLOW, view, False), _untold)
        return (perf_counter() - begin,)

    return once


def _untold(text: object, /, share: float | None = None) -> None:
    """Tell nobody."""


def _parts(cases: Sequence[Case]) -> list[Part]:
    columns = (
        Column("samples a side", key="samples", fixed=True),
        Column("processes", number, "processes"),
        Column("x one process", lambda values: fixed(2)(values["median"]), "speed_up_by_processes"),
        Column("pictures a second", fixed(1), "pictures_per_second"),
        Column("ms a picture [min..max]", spread(1, 1e3), "seconds"),
    )
    alone = {case.about["samples"]: case for case in cases if case.about["processes"] == 1}
    rows = [
        (samples := case.about["samples"], case.about["processes"], ratios(case, alone[samples]), 1 / case.median(),
         case.spread())
        for case in cases
    ]  # fmt: skip
    size = "x".join(map(str, _SIZE))
    return [
        Fact(
            f"{_MODEL} at {size}, tessellated and drawn anew, {rounds_text(cases[0])}", key="frames.scene", value=_MODEL
        ),
        Table(columns, rows, key="frames.runs"),
    ]


FRAMES = Benchmark(_prepare, _parts, _UNCOUNTED)
"""Wall times of pictures of the machine alive, and the ratios by processes."""


# What a trace costs: building it during timing-only runs, writing it in each format, and its size.


_SPANS = 200_000


def _prepare_of_traces(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    """Yield the formats, with a trace of at least 200,000 spans to write."""
    program = assemble(PASS)
    node = Node(THESIS, "rows")
    trace = Trace(TraceClock(THESIS.clock_mhz))
    NodeTracer(trace).attach(node.bus, known_of(THESIS))
    note(f"building a trace of {number(_SPANS)} spans")
    started = perf_counter()
    while trace.events < _SPANS:
        node.run(program, function=False)
    built = perf_counter() - started
    cases = []
    for name, format in FORMATS.items():
        written: dict[str, int] = {}
        about = {"spans": trace.events, "built": built, "written": written}
        cases.append(Case(name, partial(_write, trace, format, written), about))
    yield "", cases


def _write(trace: Trace, format: Format, written: dict[str, int]) -> tuple[float]:
    stream = io.BytesIO()
    started = perf_counter()
    format.write(trace, stream)
    taken = perf_counter() - started
    if not written:
        data = stream.getvalue()
        written |= {"bytes": len(data), "compressed": len(gzip.compress(data, 6))}
    return (taken,)


def _parts_of_traces(cases: Sequence[Case]) -> list[Part]:
    spans, built = cases[0].about["spans"], cases[0].about["built"]
    columns = (
        Column("format", key="format", fixed=True),
        Column("ms [min..max]", MILLISECONDS, "seconds"),
        Column("spans/s", number),
        Column("MB", fixed(1, 1e-6), "bytes"),
        Column("MB .gz", fixed(1, 1e-6), "bytes_compressed"),
    )
    rows = [(case.name, case.spread(), round(spans / case.median()), *case.about["written"].values()) for case in cases]
    head = f"{PASS_NAME}: {number(spans)} spans, run and built in {fixed(1)(built)} s"
    return [
        Fact(head, key="trace.program", value=PASS_NAME),
        Fact(None, key="trace.spans", value=spans),
        Fact(None, key="trace.seconds_to_run_and_build", value=built),
        Table(columns, rows, key="trace.formats", named="format"),
    ]


TRACES = Benchmark(_prepare_of_traces, _parts_of_traces)
"""Wall times to build and to write a trace, and its sizes in bytes."""


# What a user waits for: fresh processes from start to end, one after the other in every round.
#
# A whole pass runs once with empty caches, so that all native code is compiled, and once with what an earlier process
# kept. Byte code of Python is there in all of them, as after an installation.


_BEFORE = """
import sys
from time import perf_counter
from pixelflow.cli.bench_engines import settle
from pixelflow.cli.bench_engines import instructions
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
"""What the installed command does."""


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
    """Return the processor time of all children that have ended, in seconds; 0 where the system does not tell."""
    times = os.times()
    return times.children_user + times.children_system


def _one_of_each(environment: dict[str, str]) -> list[str]:
    """Return places in the mix, one for each native function that it needs; none where there is no native code."""
    with tempfile.TemporaryDirectory() as folder:
        environment = environment | {"PIXELFLOW_CACHE": folder}
        found = subprocess.run([sys.executable, "-c", _SCOUT], env=environment, capture_output=True, text=True)
    return found.stdout.split()


def _prepare_of_startup(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    """Yield the commands after each has run once; raises InputError where the compiled engine does not work."""
    missing = choose("compiled").note
    if missing is not None:
        raise InputError(f"this measures how soon the compiled engine runs: {missing.partition(';')[0]}")
    with tempfile.TemporaryDirectory() as folder:
        patches = Path(folder) / "bicubic.bpt"
        patches.write_text(format_bpt(Patch(net) for net in nets()), encoding="utf-8")
        path = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"),
            "PIXELFLOW_CACHE": str(Path(folder) / "native"),
        }
        command = ["-c", _SCRIPT]
        whole = [*command, "tessellate", str(patches), "--samples", "4"]
        commands: dict[str, tuple[list[str], dict[str, bool]]] = {
            "python -c pass": (["-c", "pass"], {}),
            "--help": ([*command, "--help"], {}),
            "interpreter ready, no cache": (["-c", _RUN, *_one_of_each(environment)], {"empty": True, "prints": True}),
            "its first 2,000 microinstructions": (["-c", _RUN], {"empty": True, "prints": True}),
            "pass, no cache": (whole, {"empty": True}),
            "pass, cache": (whole, {}),
        }
        cases = [Case(name, _command(name, words, environment, **how)) for name, (words, how) in commands.items()]
        for case in cases:
            case.once()  # fills the folders of byte code and native code
        yield "", cases


def _parts_of_startup(cases: Sequence[Case]) -> list[Part]:
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
            "Its first 2,000: the same, but to the end of the whole mix, whose meanings are recorded and carried out",
            wrap=False,
        ),
    ]


STARTUP = Benchmark(_prepare_of_startup, _parts_of_startup)
"""The times of every command, and the median of its same-round ratios to a Python that does nothing."""
