"""Do the commands of the README and the how-to pages work as printed, and do links lead somewhere?

The two commands that install something are run whole by `.ci/run`; their `pixelflow` part is run here too.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from tests.documents.marks import fenced, is_there
from tests.documents.printed import GUIDE, differences, output_of, printed_blocks

ROOT = Path(__file__).parents[2]
PRINTED = {block.command for block in printed_blocks()}
DIFFERENT = "pixelflow diff"
"""Here it is shown runs that differ, so its exit code is 1."""


def blocks(document: str) -> list[tuple[str, ...]]:
    """Return the commands of each fenced block; what a shell would do besides (install, comments) is left out."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        lines = block.replace("\\\n", " ").splitlines()
        parts = [" ".join(part.split()) for line in lines for part in line.split("&&")]
        found.append(tuple(part for part in parts if part.startswith("pixelflow ")))
    return [commands for commands in found if commands]


LONG = {
    "pixelflow sweep run microcode/examples/texture_copy.mc --timing-only --set sdram.trp_cycles=2:4 "
    "--set tasic.read_overhead_cycles=0,1 --out grid.csv",
    "pixelflow tessellate teapot --record teapot.npz",
    "pixelflow tessellate teapot --samples 4 --cache base",
    "pixelflow run microcode/examples/mandelbrot.mc --record slow.npz --stats slow.json",
    "pixelflow study schedules --inputs full",
    "pixelflow compare nut --size 96x64 --cores 4 --tile 32 -o nut.png",
    "pixelflow demo",
    "pixelflow run mandelbrot --check-memory -q",
    "pixelflow serve teapot --samples 8",
    "pixelflow verify",
    "pixelflow render enneper --samples 4 --size 128x96 --nodes 3 -D composition.emc_bytes_per_cycle=8 -o fast.png",
    "pixelflow isa --machine larrabee vcompressd",
    "pixelflow verify 6",
    "pixelflow tessellate teapot --samples 4,8,16 --library plain --weld -o mixed.ply",
    "pixelflow verify 6 7 12 figure13 --timing-only --quiet --html curves.html",
    "pixelflow isa --machine gen6 pln",
    "pixelflow render bunny --size 160x120 -o bunny.png",
    "pixelflow verify larrabee --class M",
    "pixelflow compare enneper --samples 4 --machine all --sizes 80x60,160x120",
    "pixelflow tessellate teapot --engine macro -q -o macro.obj",
    "pixelflow render enneper --machine attila --size 32x24 -o surface-attila.png",
    "pixelflow study caching --schedules thesis",
    "pixelflow tessellate teapot --samples 4 --schedule shared-columns --load gp --results gp-fine",
    "pixelflow tessellate rosette --samples 8 --weld -o rosette.obj",
    "pixelflow tessellate teapot --samples 4 -D sdram.equal_slots=false -D sdram.check_commands=true --quiet",
}
"""First commands of blocks that take more than a few seconds."""
BLOCKS = [
    (document, commands)
    for document in ("README.md", *GUIDE, "docs/pages/configuration.md")
    for commands in blocks(document)
]
COMMANDS = [command for _, commands in BLOCKS for command in commands]


def run(command: str) -> int:
    """Run a command line as a shell would, with its redirection."""
    words = shlex.split(command, comments=True)[1:]
    if ">" not in words:
        return main(words)
    at = words.index(">")
    with Path(Path(words[at + 1]).name).open("w") as stream, contextlib.redirect_stdout(stream):
        return main(words[:at])


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 40


@pytest.mark.parametrize(
    ("document", "commands"),
    [
        pytest.param(
            document, commands, id=f"{document}: {commands[0][10:50]}", marks=[pytest.mark.slow] * (commands[0] in LONG)
        )
        for document, commands in BLOCKS
    ],
)
def test_commands(document: str, commands: tuple[str, ...], tmp_path: Path, monkeypatch, capsys) -> None:
    """One after the other in one folder, as a reader types them."""
    (tmp_path / "microcode").symlink_to(ROOT / "microcode")
    monkeypatch.chdir(tmp_path)
    for command in commands:
        if command in PRINTED:
            continue  # a block shows what it prints, so that it is run there
        assert run(command) == command.startswith(DIFFERENT), command
        if command == "pixelflow verify":
            printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
            assert not differences(shown("verify-summary"), printed)
        words = shlex.split(command, comments=True)
        for option in (
            "-o",
            "--preview",
            "--stats",
            "--record",
            "--svg",
            "--html",
            "--out",
            ">",
        ):
            if option in words:
                name = Path(words[words.index(option) + 1])
                written = list(Path().glob(f"{name.stem}*{name.suffix}"))  # --per-client numbers them
                assert written and all(file.stat().st_size > 100 for file in written), command


@pytest.mark.parametrize("document", sorted(ROOT.rglob("README.md")), ids=lambda path: str(path.relative_to(ROOT)))
def test_python_blocks_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, as a reader types them."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        exec(compile(block, str(document), "exec"), names)


@pytest.mark.parametrize("document", sorted(ROOT.rglob("*.md")), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    if any(part.startswith((".", "build")) for part in document.relative_to(ROOT).parts):
        pytest.skip("not part of the repository")
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert is_there(document.parent / target), target


@pytest.mark.parametrize("document", sorted(ROOT.rglob("*.md")), ids=lambda path: str(path.relative_to(ROOT)))
def test_named_files_exist(document: Path) -> None:
    """A path in backticks leads from the document's folder, the root, or the package of a machine's page to a file."""
    if any(part.startswith((".", "build")) for part in document.relative_to(ROOT).parts):
        pytest.skip("not part of the repository")
    named = re.findall(
        r"`([a-z_]+/(?:[a-z_0-9]+/)*(?:[a-z_0-9]+\.(?:py|mc|md))?)`", document.read_text(encoding="utf-8")
    )
    places = (document.parent, ROOT, ROOT / f"{document.stem}_bridge")
    missing = {each for each in named if not any(is_there(place / each) for place in places)}
    assert not missing


GENERAL = {"ALU", "BSD", "GPU", "SIMD", "UNC"}
"""Abbreviations that are not of the machines here."""


def test_abbreviations_of_the_readme_and_of_reports_are_in_the_glossary() -> None:
    said = re.sub(r"\]\([^)]*\)|<!--.*?-->", "", (ROOT / "README.md").read_text(encoding="utf-8"))
    for command in ("run texture_copy", "run halve --machine gen6", "run setup --machine larrabee"):
        said += "\n".join(output_of(f"pixelflow {command}"))
    words = set(re.findall(r"\b[A-Z]{2,5}s?\b", said)) - GENERAL
    assert {"EIGC", "TIGC", "PEs"} <= words
    assert main(["about", *words]) == 0


@pytest.mark.parametrize(
    "word", ["pass", "sample", "patch", "stage", "engine", "semaphore", "transfer", "TASIC", "qquad"]
)
def test_words_of_reports_are_in_the_glossary(word: str, capsys) -> None:
    assert main(["about", word, "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["words"]
    assert word in entry["word"] and entry["meaning"] and entry["source"]


def test_commands_in_the_prose_of_the_readme_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`view` waits for a browser, and `study sensitivity` has a slow test of its own."""
    prose = re.sub(r"```.*?```", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    named = re.findall(r"`(pixelflow [^`]+)`", prose)
    monkeypatch.chdir(tmp_path)
    assert set(named) == {"pixelflow view", "pixelflow study sensitivity", "pixelflow verify table12"}
    assert run("pixelflow verify table12 --timing-only") == 0


def shown(mark: str, document: str = "README.md") -> list[str]:
    """Return the lines of the fenced block after a mark."""
    return fenced(document, mark)


@pytest.mark.slow
def test_the_guide_shows_what_verify_prints(capsys) -> None:
    """Table 5 as the command prints it."""
    assert main(["verify", "5"]) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert not differences(shown("verify-table-5", "docs/pages/guide/verify.md"), printed)


def test_the_printed_report_is_what_the_command_prints(tmp_path, monkeypatch) -> None:
    """In at most twelve lines, and the report itself in one screen."""
    command = next(c for c in COMMANDS if c.startswith("pixelflow tessellate teapot"))
    monkeypatch.chdir(tmp_path)
    printed = output_of(f"{command} --engine rows")
    lines = shown("main-output")
    assert differences(lines, printed) == []
    assert len(lines) <= 12 and len(printed) <= 24


def test_the_printed_dashboard_is_what_the_command_prints(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["tessellate", "teapot", "--record", "teapot.npz", "-q"]) == 0
    capsys.readouterr()
    assert main(["--width", "80", "dash", "teapot.npz", "--at", "46900", "--engine", "rows"]) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert without_places(printed) == without_places(shown("dashboard", "docs/pages/guide/watch.md"))


def without_places(lines: list[str]) -> list[str]:
    """Leave out where a line of the program is in its source, which moves with every edit above it."""
    return [re.sub(r"(?<=\.py:)\d+|(?<=│ [ ▶] )\d{3}", "N", line) for line in lines]


@pytest.mark.slow
def test_the_printed_frame_of_many_triangles_is_what_the_command_prints(tmp_path, monkeypatch, capsys) -> None:
    """A hundred thousand triangles on 1600x1200, every cycle of them executed."""
    monkeypatch.chdir(tmp_path)
    assert main(["--width", "80", "render", "works", "--machine", "larrabee", "-o", "works.png"]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == shown(
        "works", "docs/pages/guide/larrabee.md"
    )
