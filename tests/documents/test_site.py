"""Do the tutorials of the site run, does the site build without a warning, and is its tracked picture what is drawn?"""

from __future__ import annotations

import glob
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli.main import main
from pixelflow.course import EXERCISES
from tests.documents.pages import PAGES, TUTORIALS, blocks_of, outputs_of
from tests.documents.printed import differences

ROOT = Path(__file__).parents[2]
PICTURES = re.findall(r"<!-- picture: pixelflow ([^\n]*) -->", (ROOT / "README.md").read_text(encoding="utf-8"))
SOLUTIONS = sorted((ROOT / "tests" / "course" / "solutions").glob("*.mc"))


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_runs_and_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    """Block by block; a block that prints has what it prints below it."""
    blocks = blocks_of(name)
    assert len(blocks) >= 3 and sum(block.code.count("assert ") for block in blocks) >= 3
    for block, printed in zip(blocks, outputs_of(name, tmp_path), strict=True):
        shown = (block.printed or "").splitlines()
        assert differences(shown, printed.splitlines()) == [], block.code
    assert any(block.printed for block in blocks), "nothing is shown"


def test_the_commands_of_the_course_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a class does it: an exercise that nobody has solved yet does not pass, a folder of solutions does."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hand-ins").mkdir()
    for path in SOLUTIONS:
        shutil.copy(path, tmp_path / "hand-ins" / f"{path.stem}-ada.mc")
    text = (PAGES / "teacher.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.M)
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) >= 6
    for command in commands:
        words = [found for word in command.split()[1:] for found in sorted(glob.glob(word)) or [word]]
        assert main(words) == (command == "pixelflow grade first.mc"), command
        shown = capsys.readouterr().out
        if "*" in command:
            assert shown.count("passed") >= len(SOLUTIONS) and all(path.stem in shown for path in SOLUTIONS)
    assert (tmp_path / "class.html").stat().st_size > 1000


def test_what_to_show_a_class_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of the table of lessons, with the solutions that students have by then."""
    monkeypatch.chdir(tmp_path)
    for path in SOLUTIONS:
        shutil.copy(path, tmp_path)
    text = (PAGES / "teacher.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| [123] \|", line)]
    assert [re.findall(r"`(\w+)`", row)[0] for row in rows] == [*EXERCISES]
    for row in rows:
        commands = re.findall(r"`pixelflow ([^`]*)`", row)
        assert commands, row
        for command in commands:
            monkeypatch.setattr(sys, "stdin", io.StringIO("step\nback\nquit\n"))
            assert main(command.split()) == 0, command
    assert (tmp_path / "streams.html").stat().st_size > 1000


def test_what_the_site_includes_is_there() -> None:
    """Every page of the navigation is a document, a page of its own, or a package with a reference."""
    named = re.findall(r": ([\w./-]+\.md)$", (ROOT / "docs" / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(named) > 30
    for name in named:
        package = name.removeprefix("reference/").removesuffix(".md").replace(".", "/")
        found = (ROOT / name, PAGES / name, ROOT / package / "__init__.py", ROOT / f"{package}.py")
        assert any(each.exists() for each in found), name


def test_the_readme_begins_with_its_picture() -> None:
    head = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:6]
    assert any(re.fullmatch(r"!\[[^]]{20,}\]\(docs/teapot\.png\)", line) for line in head)
    for name, most in (("teapot.png", 60_000), ("demo.png", 600_000)):
        picture = (ROOT / "docs" / name).read_bytes()
        assert picture.startswith(b"\x89PNG\r\n\x1a\n") and len(picture) < most


@pytest.mark.slow
@pytest.mark.parametrize("command", PICTURES)
def test_a_picture_of_the_readme_is_what_its_command_makes(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frame by frame and pixel for pixel: another release of a library may pack them into other bytes."""
    image = pytest.importorskip("PIL.Image", reason="the picture is a PNG (extra `image`)")
    monkeypatch.chdir(tmp_path)
    assert main([*command.split(), "-q"]) == 0
    name = command.split()[-1]
    with image.open(name) as made, image.open(ROOT / "docs" / name) as tracked:
        assert getattr(made, "n_frames", 1) == getattr(tracked, "n_frames", 1)
        for frame in range(getattr(made, "n_frames", 1)):
            made.seek(frame)
            tracked.seek(frame)
            assert np.array_equal(np.asarray(made.convert("RGB")), np.asarray(tracked.convert("RGB"))), frame


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    for package in ("material", "mkdocstrings", "PIL"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the site needs {package}: pip install '.[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "docs/mkdocs.yml", "-d", str(tmp_path)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    found = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert found.returncode == 0 and "WARNING" not in found.stderr, found.stderr
    pages = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")}
    assert {"index.html", "story.html", "architect.html", "reference/pixelflow.node.html", "made/teapot.html"} <= pages
    story = (tmp_path / "story.html").read_text(encoding="utf-8")
    made = re.findall(r'src="(made/[^"]+)"', story)
    assert len(made) >= 8 and all((tmp_path / each).stat().st_size > 1000 for each in made)
    for page in pages:
        loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(https?:[^"]+)"', (tmp_path / page).read_text())
        assert loaded == [], page
    reference = (tmp_path / "reference" / "pixelflow.node.html").read_text(encoding="utf-8")
    assert "The account of one run of one stream." in reference
