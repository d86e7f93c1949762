"""Is a declaration of instructions, a run and a record all that a third machine needs?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from microcode.assembly import assemble
from pixelflow.cli.main import main
from pixelflow.simd.errors import InputError
from pixelflow.simd.machine import machine_named, register
from pixelflow.simd.observe import Bus
from pixelflow.simd.trace import Trace, TraceClock, Tracer, tracks_of_streams
from pixelflow.simd.trace.formats import FORMATS
from tests.machines.toy_machine import INSTRUCTIONS, MACHINE, TARGET
from tests.trace.runs import checked

ROOT = Path(__file__).parents[2]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nothing_registered: None) -> Path:
    register(MACHINE)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "five.mc"
    path.write_text("const FACTOR = 2 + 3\nput 7\nmul FACTOR\n")
    return path


def test_the_assembler_takes_its_source(source: Path) -> None:
    program = assemble(source, TARGET)
    assert [each.text() for each in program.instructions] == ["put 7", "mul 5", "end"]
    assert MACHINE.run(program).lanes == [35, 40, 45, 50]
    with pytest.raises(InputError, match="unknown instruction"):
        assemble("mull 3\n", TARGET)


def test_run_reports(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--machine", "toy", str(source)]) == 0
    assert "5 cycles" in (text := capsys.readouterr().out) and "45" in text
    assert main(["run", "--machine", "toy", str(source), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["cycles"], found["lanes"]) == ("toy.run/1", 5, [35, 40, 45, 50])


@pytest.mark.parametrize("name", FORMATS)
def test_run_traces(name: str, source: Path) -> None:
    form = FORMATS[name]
    assert main(["run", "--machine", "toy", str(source), "--trace", name, "-q"]) == 0
    found = checked(source.with_suffix(form.suffix).read_bytes(), name)
    assert found.totals["main"] == {"busy": 5}


def test_a_window_and_tracks_are_its_own(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "--machine", "toy", str(source), "--trace", "kanata"]
    assert main([*command, "--window", "1:2", "-D", "clock_mhz=20"]) == 0
    assert "clock_mhz: 20" in source.with_suffix(".kanata").read_text()
    assert main([*command, "--only", "eigc"]) == 2
    assert "error: " in capsys.readouterr().err


def test_the_tracer_of_every_machine_follows_it(source: Path) -> None:
    bus, tracer = Bus(), Tracer(Trace(TraceClock(10)))
    tracer.attach(bus, tracks_of_streams(TARGET.streams))
    MACHINE.run(assemble(source, TARGET), bus=bus)
    spans = [span for each in tracer.trace.spans.values() for span in each]
    assert {(span.start, span.end, span.label.name) for span in spans} >= {(0, 1, "put 7"), (1, 4, "mul 5")}


def test_what_it_does_not_do_is_refused(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--machine", "toy", str(source), "--dump", "memory"]) == 2
    assert "Toy" in capsys.readouterr().err
    assert main(["run", "--machine", "toy", str(source), "--only", "main"]) == 2
    assert main(["isa", "--machine", "toy", "mul"]) == 0
    assert INSTRUCTIONS["mul"].manual in capsys.readouterr().out


@pytest.fixture
def scene(source: Path) -> str:
    path = source.with_name("scene.toml")
    path.write_text('size = [40, 30]\n[[generated]]\nfamily = "layers"\ndepth = 2\ncolumns = 2\nrows = 2\n')
    return path.name


def test_it_draws(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("PIL")
    words = ["render", scene, "--machine", "toy", "-o", "a.png"]
    assert main([*words, "--stride", "2", "--toy", "clock_mhz=20", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["stride"], found["clock_mhz"]) == ("pixelflow.render-toy/1", 2, 20)
    assert found["equals_reference"] and found["stages"] == {"cover": found["cycles"]} and Path("a.png").exists()
    assert main(words) == 0
    assert "1 toy" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["render", "-o", "a.png", "--stride", "2"], "is Toy's; add --machine toy"),
        (["render", "-o", "a.png", "--machine", "toy", "--stride", "5"], "1 to 4, not 5"),
        (["render", "-o", "a.png", "--machine", "toy", "--tile", "32"], "is Larrabee's; add --machine larrabee"),
        (["render", "-o", "a.png", "--machine", "toy", "--nodes", "2"], "is PixelFlow's; this is Toy"),
        (["render", "-o", "a.png", "--machine", "toy", "--projection", "emc"], "on Toy the host projects"),
        (["compare", "--stride", "2"], "is Toy's; add --machine toy"),
        (["compare", "--machine", "toy", "--machine", "larrabee", "--nodes", "2"], "this is Toy and Larrabee"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_options_of_other_machines_are_refused(scene: str, words: list[str], message: str, capsys) -> None:
    pytest.importorskip("PIL")
    assert main([words[0], scene, *words[1:]]) == 2
    assert message in capsys.readouterr().err and not Path("a.png").exists()


@pytest.mark.parametrize(
    "names",
    [
        ("toy",),
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in (("larrabee", "toy"), ("pixelflow", "larrabee", "toy"))
        ),
    ],
    ids="-".join,
)
def test_any_machines_are_compared(names: tuple[str, ...], scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", scene, *(word for name in names for word in ("--machine", name))]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["identical"] and [each["machine"].lower() for each in found["machines"]] == list(names)
    assert found["stride"] == 4 and ("tile" in found) == ("larrabee" in names) == ("tessellation" in found)
    assert main(words) == 0 and main([*words, "--explain", "all", "--width", "160"]) == 0
    shown = capsys.readouterr().out
    parts = {"toy": "Toy (1 part", "larrabee": "Larrabee (1 core", "pixelflow": "PixelFlow (1 node"}
    assert all(parts[name] in shown for name in names) and max(map(len, shown.splitlines())) <= 160


def test_it_has_no_paper(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["toy"], ["--machine", "toy"]):
        assert main(["verify", *words]) == 2
        assert "toy" in capsys.readouterr().err


def test_it_stands_on_the_core_alone() -> None:
    text = (ROOT / "tests/machines/toy_machine.py").read_text()
    imported = {line.split()[1] for line in text.splitlines() if line.startswith("from pixelflow")}
    assert all(each.startswith(("pixelflow.simd", "pixelflow.simd.report")) for each in imported)
    assert machine_named("pixelflow").name == "pixelflow"  # not in the way of the others


def test_larrabee_is_traced_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wait.mc").write_text("mov r1, 7\nadd r1, r1\n")
    assert main(["run", "--machine", "larrabee", "wait.mc", "--trace", "kanata", "-q"]) == 0
    found = checked((tmp_path / "wait.kanata").read_bytes(), "kanata")
    run = machine_named("larrabee").run(assemble(tmp_path / "wait.mc", machine_named("larrabee").target))
    assert sum(found.totals["main"].values()) == run.cycles
