"""Is a value change dump what its readers say it is?"""

import io
import shutil
import subprocess
from pathlib import Path

import pytest
from vcd.reader import TokenKind, tokenize

from pixelflow.simd.trace import TraceClock
from pixelflow.simd.trace.vcd import time_unit
from tests.trace.runs import PING_PONG, Traced, account, checked, exchanges, nonzero, traced, written

pywellen = pytest.importorskip("pywellen", reason="pywellen, a reader of dumps, is not installed")


@pytest.fixture(scope="module")
def seen() -> Traced:
    return traced(exchanges(4))


def in_file(folder: Path, data: bytes, name: str = "t.vcd") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def cycles_in(path: Path, end: int) -> dict[str, dict[str, int]]:
    """Count with pywellen in which cycles each state held."""
    found: dict[str, dict[str, int]] = {}
    for variable in pywellen.Waveform(str(path)).all_vars():
        scope, _, name = variable.full_name.partition(".")
        if name == "state" or (scope.startswith("tasic") and name == "busy"):
            counts: dict[str, int] = {}
            for cycle in range(end):
                value = str(variable.signal.value_at(cycle))
                counts[value] = counts.get(value, 0) + 1
            found[scope] = counts
    return found


def test_pywellen_reads_the_account(seen: Traced, tmp_path: Path) -> None:
    found = cycles_in(in_file(tmp_path, written(seen.trace, "vcd")), seen.trace.end)
    for stream in ("eigc", "tigc"):
        states = {state: cycles for state, cycles in found[stream].items() if state != "idle"}
        assert states == account(seen.run)[stream]
    assert found["tasic0"]["1"] == seen.run.tasic_cycles[0]


def test_every_instruction_stands_as_text_and_as_number(seen: Traced, tmp_path: Path) -> None:
    """At each cycle in which something executes: its text, its opcode and its place in the program."""
    wave = pywellen.Waveform(str(in_file(tmp_path, written(seen.trace, "vcd"))))
    signals = {variable.full_name: variable.signal for variable in wave.all_vars()}
    program = seen.run.program
    for track, spans in seen.trace.spans.items():
        if track.name not in ("eigc", "tigc"):
            continue
        for span in spans:
            if span.end == span.start or span.label.category.value != "execute":
                continue
            index = program.index_of[signals[f"{track.name}.uPC"].value_at(span.start)]
            instruction = program.instructions[index]
            assert signals[f"{track.name}.opcode"].value_at(span.start) == instruction.declaration.opcode
            assert signals[f"{track.name}.instruction"].value_at(span.end - 1) == instruction.text()


def test_the_tokenizer_of_pyvcd_reads_every_line(seen: Traced) -> None:
    tokens = list(tokenize(io.BytesIO(written(seen.trace, "vcd"))))
    times = [token.time_change for token in tokens if token.kind is TokenKind.CHANGE_TIME]
    assert times == sorted(set(times))
    assert times[-1] == seen.trace.end
    assert next(token.timescale for token in tokens if token.kind is TokenKind.TIMESCALE).unit.value == "ns"


@pytest.mark.viewer
def test_gtkwave_converts_it_without_a_change(seen: Traced, tmp_path: Path) -> None:
    if shutil.which("vcd2fst") is None:
        pytest.skip("GTKWave's vcd2fst is not installed")
    path = in_file(tmp_path, written(seen.trace, "vcd"))
    subprocess.run(["vcd2fst", str(path), str(tmp_path / "t.fst")], check=True, capture_output=True, timeout=600)
    assert cycles_in(tmp_path / "t.fst", seen.trace.end) == cycles_in(path, seen.trace.end)


@pytest.mark.parametrize(
    ("mhz", "unit", "ticks"),
    [(100, "10 ns", 1), (1, "1 fs", 10**9), (10, "100 ns", 1), (1000, "1 ns", 1), (10_000, "100 ps", 1)],
)
def test_time_counts_cycles_where_a_timescale_can_say_that(mhz: int, unit: str, ticks: int) -> None:
    per_second, timescale = time_unit(TraceClock(mhz))
    assert (timescale, TraceClock(mhz).ticks(1, per_second)) == (unit, ticks)


@pytest.mark.parametrize("mhz", [1, 3, 133, 9999])
def test_every_clock_is_exact(mhz: int) -> None:
    from microcode import assemble
    from pixelflow.config import TINY
    from pixelflow.node import Node
    from tests.trace.runs import listen

    node = Node(TINY)
    tracer = listen(node.bus, mhz=mhz)
    run = node.run(assemble(PING_PONG))
    found = checked(written(tracer.trace, "vcd"), "vcd")
    assert nonzero(found.totals) == account(run)
