"""The option of commands that chooses the engine, for threads of the vector unit."""

from __future__ import annotations

from pathlib import Path

import pytest

from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.cli.main import main
from pixelflow.simd.lanes import choose

pytestmark = pytest.mark.skipif(choose("compiled").note is not None, reason="needs native code")


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The engines of the units that have run."""
    seen: list[str] = []
    run = VectorUnit.run

    def noted(unit: VectorUnit, *arguments, **named) -> None:
        seen.append(unit.engine)
        run(unit, *arguments, **named)

    monkeypatch.setattr(VectorUnit, "run", noted)
    return seen


def test_a_run_takes_the_engine_that_is_asked_for(tmp_path: Path, engines: list[str], capsys) -> None:
    program = tmp_path / "sum.mc"
    program.write_text("mov r1, 5\nadd r1, r0\n")
    reports = []
    for engine in ("auto", "rows", "compiled"):
        assert main(["run", str(program), "--machine", "larrabee", "--engine", engine]) == 0
        reports.append(capsys.readouterr().out)
    assert engines == ["compiled", "rows", "compiled"]
    assert reports[0] == reports[1] == reports[2]


@pytest.mark.parametrize("projection", [pytest.param("host", marks=pytest.mark.slow), "vpu"])
def test_a_picture_is_drawn_by_the_engine_that_is_asked_for(tmp_path: Path, engines: list[str], projection) -> None:
    pictures = []
    for engine in ("rows", "compiled"):
        engines.clear()
        picture = tmp_path / f"{engine}.png"
        options = ["--machine", "larrabee", "--size", "16x12", "--projection", projection, "--engine", engine]
        assert main(["render", "enneper", "-o", str(picture), "--samples", "2", *options]) == 0
        assert set(engines) == {engine}
        pictures.append(picture.read_bytes())
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("command", [["run"], ["render", "-o", "no.png"]])
def test_an_engine_that_it_has_not_is_refused(command: list[str], tmp_path: Path, capsys) -> None:
    program = tmp_path / "one.mc"
    program.write_text("mov r1, 5\n")
    subject = str(program) if command[0] == "run" else "enneper"
    assert main([command[0], subject, *command[1:], "--machine", "larrabee", "--engine", "macro"]) == 2
    assert "--engine macro: error: Larrabee has auto, rows, compiled" in capsys.readouterr().err
