"""Does a shell complete commands, options, values, mnemonics, configuration keys and files with the printed script?"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

import pytest

from pixelflow.cli.completion import whole_parser
from pixelflow.cli.main import main
from pixelflow.cli.registry import COMMANDS
from pixelflow.config import THESIS
from pixelflow.isa import INSTRUCTIONS
from tessellation.scenes import SCENES

pytest.importorskip("shtab", reason="needs shtab: pip install 'pixelflow-sim[completion]'")


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    """The script of each shell, as the command prints it."""
    import contextlib
    import io

    found = {}
    for shell in ("bash", "zsh", "fish"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert main(["completion", shell]) == 0
        found[shell] = printed.getvalue()
    return found


@pytest.fixture
def bash(scripts: dict[str, str], tmp_path: Path):
    """Return what bash offers for the last of some words, in a folder with two files."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    (tmp_path / "triangle.mc").touch()
    (tmp_path / "machine.toml").touch()
    (tmp_path / ".script").write_text(scripts["bash"])

    def complete(*words: str) -> set[str]:
        ask = (
            'source .script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; '
            'compopt() { :; }; _shtab_pixelflow; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        result = subprocess.run(
            ["bash", "--norc", "-c", ask, "bash", "pixelflow", *words], capture_output=True, text=True, cwd=tmp_path
        )
        assert result.returncode == 0 and result.stderr == "", result.stderr
        return {line.strip() for line in result.stdout.splitlines() if line.strip()}

    return complete


def test_commands(bash) -> None:
    assert set(COMMANDS) <= bash("")
    assert bash("tess") == {"tessellate"}


def test_names_of_examples_exercises_and_scenes(bash) -> None:
    assert bash("examples", "") >= {"show", "copy"}
    assert bash("examples", "copy", "c") == {"carries", "cutout"}
    assert bash("examples", "copy", "teap") == {"teapot"}
    assert bash("examples", "show", "to") == {"tour"}
    assert bash("grade", "--exercise", "f") == {"first"}


def test_names_of_scenes_models_and_programs_that_ship_here(bash) -> None:
    assert set(SCENES) <= bash("render", "") and bash("render", "gla") == {"glass"}
    assert bash("tessellate", "enn") == {"enneper"}
    assert bash("run", "mand") == {"mandelbrot"}


@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_every_command(bash, name: str) -> None:
    below = whole_parser().below[name]
    offered = [action for action in below.declared if action.help != argparse.SUPPRESS]
    own = {option for action in offered for option in action.option_strings if option.startswith("--")}
    assert bash(name, "--") == own


def test_choices(bash) -> None:
    assert bash("run", "x.mc", "--dump", "") == {"memory", "registers", "enables"}
    assert bash("run", "--color", "a") == {"auto", "always"}
    assert bash("config", "sch") == {"schema"}
    assert bash("config", "show", "--preset", "") == {"thesis", "tiny", "large"}


def test_mnemonics(bash) -> None:
    assert bash("isa", "EMC_Tree") == {name for name in INSTRUCTIONS if name.startswith("EMC_Tree")}


def test_configuration_keys_with_their_values(bash) -> None:
    assert bash("run", "-D", "sdram.ba") == {"sdram.banks=2", "sdram.banks=4", "sdram.banks=8"}
    assert bash("run", "-D", "sdram.refresh=") == {"sdram.refresh=true", "sdram.refresh=false"}
    assert {word.partition("=")[0] for word in bash("run", "-D", "")} == set(THESIS.values)
    assert bash("sweep", "run", "x.mc", "--set", "igc.con") == {"igc.control_cycles=0"}


def test_files(bash) -> None:
    assert bash("run", "triangle.") == {"triangle.mc"}
    assert bash("run", "triangle.mc", "--config", "mach") == {"machine.toml"}


@pytest.mark.parametrize(("shell", "check"), [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])])
def test_the_shell_can_read_its_script(scripts: dict[str, str], shell: str, check: list[str], tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(scripts[shell])
    result = subprocess.run([shell, *check, str(path)], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_script_knows_every_command_and_mnemonic(scripts: dict[str, str], shell: str) -> None:
    for word in (*COMMANDS, *INSTRUCTIONS, "sdram.banks=4"):
        assert word in scripts[shell]


def test_without_shtab_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 3
    seen = capsys.readouterr()
    assert seen.out == "" and "pip install " in seen.err and "[completion]'" in seen.err


def test_names_that_ship_here_complete_beside_files(bash) -> None:
    assert bash("run", "tri") >= {"triangle", "triangle.mc"}
    assert bash("asm", "mand") == {"mandelbrot"}
    assert "teapot" in bash("tessellate", "tea")
    assert {"tea", "teapot"} <= bash("render", "tea")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_given_the_names(scripts: dict[str, str], shell: str) -> None:
    assert all(name in scripts[shell] for name in ("mandelbrot", "enneper", "anthill"))
