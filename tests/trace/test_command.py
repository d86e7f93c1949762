"""``--trace``, and ``pixelflow trace``."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pixelflow.isa import INSTRUCTIONS
from pixelflow.node.run.perform import OnLanes
from pixelflow.simd.trace.formats import FORMATS
from tests.trace.runs import EXAMPLES, PING_PONG, checked
from tests.trace.test_tracer import DEADLOCK

Command = Callable[..., object]


@pytest.fixture
def streams(folder: Path) -> Path:
    """A program of two streams in the working folder."""
    (folder / "streams.mc").write_text(PING_PONG, encoding="utf-8")
    return folder


def content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def test_three_formats_at_once(pixelflow: Command, streams: Path) -> None:
    traces = ["--trace", "perfetto", "--trace", "vcd:other.vcd.gz", "--trace", "named.kanata"]
    result = pixelflow("run", "streams.mc", "--preset", "tiny", *traces, "--json")
    assert result.code == 0
    report = json.loads(result.out)
    names = {"perfetto": "streams.pftrace", "vcd": "other.vcd.gz", "kanata": "named.kanata"}
    for format, name in names.items():
        assert f"wrote {name}" in result.err
        found = checked(content(streams / name), format)
        assert found.end == report["result"]["cycles"]
        assert found.totals["eigc"]["busy"] == report["streams"]["eigc"]["busy_cycles"]
        assert found.header["program_sha256"] == report["program"]["sha256"]
        assert found.header["config_sha256"] == report["config"]["sha256"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_the_same_run_gives_the_same_bytes(pixelflow: Command, streams: Path, format: str, zipped: str) -> None:
    for name in ("a", "b"):
        pixelflow("run", "streams.mc", "--preset", "tiny", "--trace", f"{format}:{name}{zipped}", "-q")
    assert (streams / f"a{zipped}").read_bytes() == (streams / f"b{zipped}").read_bytes()


def test_a_window_and_tracks(pixelflow: Command, streams: Path) -> None:
    cut = ["--window", "2:5", "--only", "tigc", "--only", "tasic[0]"]
    result = pixelflow("run", "streams.mc", "--preset", "tiny", "--trace", "perfetto", *cut)
    found = checked(content(streams / "streams.pftrace"), "perfetto")
    assert (found.begin, found.end, set(found.totals)) == (2, 5, {"tigc"})
    assert (found.header["window"], found.header["only"]) == ("2:5", "tigc, tasic[0]")
    assert result.err.startswith("note: --only tasic[0]")


@pytest.mark.slow
def test_a_tessellation_is_one_trace_of_all_passes(pixelflow: Command, folder: Path) -> None:
    passes = ["--samples", "2", "--control-points", "lee", "--preset", "tiny", "--window", ":500"]
    result = pixelflow("tessellate", "enneper", *passes, "--trace", "vcd", "-q")
    assert result.code == 0
    assert checked(content(folder / "enneper.vcd"), "vcd").end == 500


@pytest.mark.parametrize(
    ("source", "options", "code", "reason"),
    [(DEADLOCK, (), 4, "deadlock"), (PING_PONG, ("--max-cycles", "5"), 5, "cycle limit")],
)
def test_a_run_that_was_stopped_still_writes_its_trace(
    pixelflow: Command, folder: Path, source: str, options: tuple, code: int, reason: str
) -> None:
    (folder / "bad.mc").write_text(source, encoding="utf-8")
    traces = [word for format in FORMATS for word in ("--trace", format)]
    result = pixelflow("run", "bad.mc", "--preset", "tiny", *options, *traces)
    assert result.code == code
    for format in FORMATS.values():
        assert checked(content(folder / f"bad{format.suffix}"), format.name).counts
    assert reason.encode() in content(folder / "bad.pftrace")


def test_an_interrupted_run_still_writes_its_trace(
    pixelflow: Command, streams: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    issue, calls = OnLanes.issue, []

    def interrupted(self: OnLanes, stream: object, what: int) -> None:
        calls.append(what)
        if len(calls) == 2:
            raise KeyboardInterrupt
        issue(self, stream, what)

    monkeypatch.setattr(OnLanes, "issue", interrupted)
    result = pixelflow("run", "streams.mc", "--preset", "tiny", "--trace", "kanata", "--trace", "perfetto")
    assert result.code == 130
    assert checked(content(streams / "streams.kanata"), "kanata").counts["rows"] > 0
    assert b"interrupted" in content(streams / "streams.pftrace")


def test_nothing_is_written_where_no_run_has_begun(pixelflow: Command, folder: Path) -> None:
    (folder / "bad.mc").write_text("LD R,\n", encoding="utf-8")
    assert pixelflow("run", "bad.mc", "--trace", "vcd").code == 3
    assert not list(folder.glob("*.vcd*"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--trace", "perfeto"), "did you mean perfetto?"),
        (("--trace", "trace.txt"), "is neither a format nor a file name"),
        (("--trace", "vcd:-"), "standard output has the report"),
        (("--trace", "vcd:no/such/t.vcd"), "does not exist"),
        (("--trace", "vcd", "--trace", "vcd"), "streams.vcd: error: two --trace name the same file"),
        (("--trace", "vcd:streams.mc"), "is a source file"),
        (("--trace", "vcd", "--window", "9"), "expected two cycles A:B"),
        (("--trace", "vcd", "--only", "tasics[0]"), "did you mean tasic[0]?"),
        (("--only", "eigc"), "there is no --trace to cut"),
    ],
)
def test_what_cannot_be_traced_is_refused_before_the_run(
    pixelflow: Command, streams: Path, options: tuple, message: str
) -> None:
    result = pixelflow("run", "streams.mc", *options, "-D", "gni.gp_memory_mb_per_second=2000")
    assert result.code in (2, 3)
    assert message in result.err
    assert not result.out


@pytest.mark.parametrize(
    "format", [format for format in FORMATS.values() if format.package], ids=lambda each: each.name
)
def test_without_its_package_a_format_says_what_to_install(
    pixelflow: Command, streams: Path, monkeypatch: pytest.MonkeyPatch, format: object
) -> None:
    find = __import__("importlib.util").util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == format.package else find(name))
    result = pixelflow("run", "streams.mc", "--trace", format.name)
    assert result.code == 3
    assert "pip install " in result.err and "[trace]'" in result.err


@pytest.fixture
def trace(pixelflow: Command, streams: Path) -> Path:
    """A Perfetto trace in the working folder."""
    pixelflow("run", "streams.mc", "--preset", "tiny", "--trace", "perfetto", "-q")
    return streams / "streams.pftrace"


def test_check_sums_up_and_idle_is_what_is_left(pixelflow: Command, trace: Path) -> None:
    report = json.loads(pixelflow("trace", "check", trace, "--json").out)
    cycles = report["cycles"]["end"] - report["cycles"]["begin"]
    assert (report["schema"], report["format"]) == ("pixelflow.trace-check/1", "perfetto")
    for track in report["tracks"].values():
        assert sum(track.values()) == cycles
    text = pixelflow("trace", "check", trace).out
    assert "streams.pftrace: perfetto, " in " ".join(text.split()) and str(cycles) in text
    assert max(len(line) for line in text.splitlines() if trace.name not in line) <= 80


@pytest.mark.parametrize("data", [b"", b"hello\n", b"\x1f\x8b\x08broken", b"\x00\x01"])
def test_a_file_that_is_no_trace_is_refused(pixelflow: Command, folder: Path, data: bytes) -> None:
    (folder / "t").write_bytes(data)
    result = pixelflow("trace", "check", "t")
    assert result.code == 3
    assert result.err.startswith("t: error: ")
    assert pixelflow("trace", "check", "missing").code == 3


@pytest.mark.parametrize("format", ["vcd", "kanata"])
def test_what_is_for_viewers_is_not_checked(pixelflow: Command, streams: Path, format: str) -> None:
    pixelflow("run", "streams.mc", "--preset", "tiny", "--trace", f"{format}:t", "-q")
    result = pixelflow("trace", "check", "t")
    assert result.code == 3
    assert "t: error: " in result.err


def test_the_opcodes_of_gtkwave_are_those_of_the_declarations(pixelflow: Command, folder: Path) -> None:
    assert pixelflow("trace", "opcodes", "-o", "opcodes.txt").code == 0
    pairs = [line.split(" ") for line in (folder / "opcodes.txt").read_text().splitlines()]
    assert {int(opcode, 16): mnemonic for opcode, mnemonic in pairs} == {
        declaration.opcode: declaration.mnemonic for declaration in INSTRUCTIONS.values()
    }
    assert pixelflow("trace", "opcodes").out == (folder / "opcodes.txt").read_text()


def test_traces_and_statistics_tell_the_same_cycles(pixelflow: Command, streams: Path) -> None:
    watched = ["--stats", "s.json", "--trace", "vcd", "--trace", "perfetto"]
    assert pixelflow("run", EXAMPLES / "texture_copy.mc", *watched).code == 0
    (run,) = json.loads((streams / "s.json").read_text())["runs"]
    statistics = run["statistics"]
    for name in ("vcd", "perfetto"):
        file = streams / f"texture_copy{FORMATS[name].suffix}"
        for track, cycles in checked(content(file), name).totals.items():
            scope = track.replace("[", "").replace("]", "")  # tasic[0] is tasic0 there
            for what, count in cycles.items():
                key = "busy_cycles" if what == "busy" else f"wait_cycles.{what.removeprefix('wait ').replace(' ', '')}"
                assert statistics[f"{scope}.{key}"] == count, (track, what)
