"""Do the examples at the end of every command's help work as printed?"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from pixelflow.cli.registry import COMMANDS
from tessellation import BUILT_IN
from tessellation.scenes import SCENES, read_scene

EXPECTED = {"pixelflow grade sides.mc": 1, "pixelflow grade sides.mc --save-data start.npz": 1}
"""Exit codes that are not 0: a stub that nobody has solved does not pass."""
LONG = {
    "pixelflow verify 6",
    "pixelflow verify --strict 3 table4",
    "pixelflow animate flight --frames 40-41 --size 64x48 --results after -o o.png",
    "pixelflow verify attila registers setup",
    "pixelflow verify larrabee 6.4 table1 gather-gain",
    "pixelflow kernels --machine larrabee decompression cloth",
    "pixelflow study supply --rates 400",
    "pixelflow study schedules --inputs full --json",
    "pixelflow study labour --samples 16 --gps 2",
    "pixelflow render glass --machine larrabee --size 80x60 -o glass.png",
    "pixelflow render nut --machine gen6 --projection eus --size 64x48 -o n.png",
}
"""Examples that take more than a few seconds; most stand in README or guide too, and are executed there."""
PICTURES = {"demo", "animate", "compare", "kernels", "render", "serve", "study", "tessellate", "verify", "view"}
"""Commands whose examples take seconds together."""
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in PICTURES)) for name in COMMANDS]
)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "microcode").symlink_to(ROOT / "microcode")
    monkeypatch.chdir(tmp_path)
    # A page is got ready, and served for no time.
    monkeypatch.setattr("pixelflow.cli.view.require_server", lambda: None)
    monkeypatch.setattr("pixelflow.simd.workers.usable_threads", lambda: 1)
    monkeypatch.setattr("pixelflow.cli.view.serve", lambda desks, port, ready: None)
    examples = COMMANDS[name].load().EXAMPLES
    assert any(shlex.split(example)[1] == name for example in examples)
    for example in (each for each in examples if each not in LONG):
        program, *words = shlex.split(example)
        assert program == "pixelflow"
        assert main(words) == EXPECTED.get(example, 0), example
    assert set(examples) <= LONG or capsys.readouterr().out.strip()


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted(LONG))
def test_long_examples(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program, name, *words = shlex.split(example)
    assert program == "pixelflow" and example in COMMANDS[name].load().EXAMPLES
    assert main([name, *words]) == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_them_within_80_columns(name: str, capsys: pytest.CaptureFixture) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    for example in COMMANDS[name].load().EXAMPLES:
        assert f"  {example}\n" in shown and len(example) <= 78


def test_the_scene_of_the_help_of_render_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "--help"]) == 0
    shown = re.search(r"^    \[\[body\]\]\n(?:    .*\n|\n)+", capsys.readouterr().out, re.MULTILINE)
    scene = tmp_path / "own.toml"
    scene.write_text(shown[0])
    assert len(read_scene(scene).bodies) == 2
    assert main(["render", str(scene), "--size", "64x48", "-q", "-o", str(tmp_path / "own.png")]) == 0


def test_the_help_of_pictures_names_every_scene_that_ships(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "--help"]) == 0
    shown = set(re.findall(r"[a-z]+", capsys.readouterr().out))
    assert {*SCENES, *BUILT_IN} <= shown
