"""The engine that runs where the compiled one does not work, and the message about it."""

from __future__ import annotations

import pytest

from pixelflow.cli.main import main
from pixelflow.node import kernels
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import AUTO, ENGINES, Shape, available, choose, make_engine
from pixelflow.simd.lanes import engine as choice

SHAPE = Shape(64, 32, 2, ("R",), ("C",), ("E",))


@pytest.fixture(autouse=True)
def _forget():
    choice._trouble.cache_clear()
    yield
    choice._trouble.cache_clear()


def test_the_fastest_that_works_is_taken() -> None:
    assert choose(AUTO).engine == "compiled" and choose(AUTO).note is None
    assert make_engine(AUTO, SHAPE).name == "compiled"
    assert available() == ENGINES


def test_without_the_extra_only_those_who_asked_are_told(monkeypatch) -> None:
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    assert choose(AUTO) == choice.Choice("rows")
    asked = choose("compiled")
    assert asked.engine == "rows" and "extra `fast`" in asked.note and "\n" not in asked.note
    assert make_engine(AUTO, SHAPE).name == "rows" and available() == ("bit-serial", "rows")


@pytest.mark.parametrize("wanted", [AUTO, "compiled"])
def test_a_failing_compiler_leads_to_rows_and_one_line(monkeypatch, wanted: str) -> None:
    def refuse(width=None):
        raise RuntimeError("unknown processor\nsecond line")

    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine.native", refuse)
    found = choose(wanted)
    assert found.engine == "rows"
    assert "RuntimeError" in found.note and "second line" in found.note


def test_wrong_bits_lead_to_rows(monkeypatch) -> None:
    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine.trial", lambda: False)
    found = choose("compiled")
    assert found.engine == "rows" and "wrong bits" in found.note


def test_the_command_says_which_engine_ran(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "p.mc").write_text("range x[1]\nSTI x, #7\nHALT\n")

    def run(*more: str) -> tuple[str, str]:
        assert main(["run", str(tmp_path / "p.mc"), "--preset", "tiny", *more]) == 0
        return capsys.readouterr()

    assert "engine compiled" in " ".join(run()[0].split())
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    out, err = run()
    assert "engine rows" in " ".join(out.split()) and "llvmlite" not in err


@pytest.mark.parametrize("engine", ["compiled", "macro"])
@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_an_engine_asked_for_by_name_is_refused_where_it_does_not_work(
    tmp_path, monkeypatch, capsys, engine: str, quiet: tuple[str, ...]
) -> None:
    (tmp_path / "p.mc").write_text("LD R, #1\n")
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    assert main(["run", str(tmp_path / "p.mc"), "--preset", "tiny", "--engine", engine, *quiet]) == 3
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"--engine {engine}: error: ") and "pip install " in err and "[fast]'" in err


def test_rows_replaces_the_macro_engine(monkeypatch) -> None:
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    found = kernels.choose("macro")
    assert found.engine == "rows" and found.note.startswith("engine macro: ") and "extra `fast`" in found.note


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="no engine 'fastest'; there are bit-serial, rows, compiled"):
        choose("fastest")


def test_words_that_it_does_not_serve_are_refused() -> None:
    with pytest.raises(ValueError, match="words of 8 bits, not of 32"):
        make_engine("compiled", Shape(64, 32, 2, ("R",), ("C",), ("E",), bits=32))
