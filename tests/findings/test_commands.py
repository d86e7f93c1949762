"""What users stumbled on in commands: each was seen to go wrong before, and is held to what it does now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from microcode import assemble
from microcode.expander import STEPS
from pixelflow.cli.main import main
from pixelflow.isa import Mem
from pixelflow.simd.errors import InputError
from tessellation.surface.bpt import load

Command = Callable[..., tuple[int, str, str]]
FLAT = "\n".join(f"{at % 4} {at // 4} 0" for at in range(16))


@pytest.fixture
def pixelflow(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command in an empty folder; return exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def command(*words: object) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return command


@pytest.mark.slow
def test_a_file_of_too_many_lines_is_refused_before_it_is_a_tree() -> None:
    """A million labels took 13 s and 634 MB, and ended in a word about repeats."""
    text = "".join(f"a{at}:\n" for at in range(STEPS + 3))
    with pytest.raises(InputError) as refused:
        assemble(text)
    (fault,) = refused.value.faults
    assert fault.place is not None and fault.place.line == STEPS + 1
    assert "repeat" not in str(fault) and str(STEPS) in str(fault)


def test_blank_lines_and_remarks_are_no_lines_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("microcode.reader.STATEMENTS", 100)
    assert len(assemble("\n; remark\n" * 101 + "HALT\n").instructions) == 1


def test_a_patch_too_many_is_shown_where_it_begins(tmp_path: Path) -> None:
    (tmp_path / "two.bpt").write_text(f"1\n3 3\n{FLAT}\n3 3\n{FLAT}\n")
    with pytest.raises(InputError) as refused:
        load(tmp_path / "two.bpt")
    (fault,) = refused.value.faults
    assert fault.place is not None and fault.place.line == 19
    assert "1 patch" in str(fault) and "1 patches" not in str(fault)


def test_four_numbers_a_point_are_told_to_be_a_rational_patch(tmp_path: Path) -> None:
    (tmp_path / "rational.bpt").write_text("1\n3 3\n" + "0 0 0 1\n" * 16)
    with pytest.raises(InputError, match="rational patches are not drawn"):
        load(tmp_path / "rational.bpt")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[sdram]\na = 1\n[sdram]\nb = 2\n", "[sdram] is declared twice"),
        ("[sdram]\nbanks = 2\nbanks = 2\n", "given one again"),
    ],
)
def test_toml_is_refused_without_python(pixelflow: Command, text: str, said: str) -> None:
    Path("m.toml").write_text(text)
    code, _, errors = pixelflow("config", "check", "m.toml")
    assert code == 3 and said in errors and "('" not in errors


def test_a_bad_loop_count_is_one_fault(pixelflow: Command) -> None:
    Path("p.mc").write_text("LOOP -1\nLD R, #1\nENDL\n")
    code, _, errors = pixelflow("asm", "p.mc", "--check")
    assert code == 3 and errors.count("error:") == 1


def test_numbers_of_numpy_are_numbers() -> None:
    assert Mem(np.int64(3)) == Mem(3) and type(Mem(np.int64(3)).offset) is int


@pytest.mark.parametrize(
    ("word", "meant"), [("sdram.trdc_cycles", "sdram.trcd_cycles"), ("array.mdoules", "array.modules")]
)
def test_two_letters_exchanged_are_the_likeliest_slip(pixelflow: Command, word: str, meant: str) -> None:
    assert f"{meant}?" in pixelflow("run", "vector_add", "-D", f"{word}=3")[2]


def test_a_checkpoint_of_another_configuration_names_the_first_key(pixelflow: Command) -> None:
    assert pixelflow("run", "vector_add", "--save-at", 5, "s.npz")[0] == 0
    code, _, errors = pixelflow("run", "vector_add", "--load", "s.npz", "-D", "sdram.trcd_cycles=5")
    assert code == 3 and "sdram.trcd_cycles" in errors


# --- reports ---------------------------------------------------------------------------------------------------------


def test_a_sweep_that_goes_on_reports_the_rows_of_before(pixelflow: Command) -> None:
    words = ("sweep", "run", "vector_add", "--set", "sdram.trcd_cycles=2,3", "-q", "--out", "t.csv", "--json")
    assert pixelflow(*words)[1] == pixelflow(*words)[1]


# --- outputs ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that seems writable and is not: /proc")
@pytest.mark.parametrize("option", ["--output=/proc/x.npz", "--stats=/proc/x.json", "--record=/proc/x.npz"])
def test_an_output_that_cannot_be_written_is_refused_before_the_run(pixelflow: Command, option: str) -> None:
    """The superuser may write there by its permissions; no file can be made all the same."""
    code, out, errors = pixelflow("run", "vector_add", option)
    assert code == 3 and out == "" and "/proc/x." in errors


def test_looking_whether_an_output_can_be_written_leaves_nothing(pixelflow: Command) -> None:
    assert pixelflow("run", "vector_add", "--output", "o.npz", "--expect-cycles", 13)[0] == 0
    assert [path.name for path in Path().iterdir()] == ["o.npz"]


def test_a_float_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(InputError, match="1e999 is too large"):
        assemble("range a[4]\ndata a: float 1e999\n")
