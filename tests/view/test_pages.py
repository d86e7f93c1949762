"""Does a browser show the page of every command: without a complaint, a request or a script, nothing cut off?"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from tests.cli.test_pages import FAILS, LINES

pytestmark = pytest.mark.slow

SHOWN = """() => ({
    title: document.title,
    text: document.body.innerText.length,
    scripts: document.scripts.length,
    pictures: [...document.images].map(each => each.complete && each.naturalWidth > 0),
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    colours: [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor],
})"""


def test_every_commands_page_is_shown(opened, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "triangle", "--record", "saved.npz", "-q"]) == 0
    assert main(["examples", "copy", "carries", "-q"]) == 0
    seen: dict[str, dict] = {}
    for name, line in LINES.items():
        assert main([*shlex.split(line), "--html", f"{name}.html"]) == (name in FAILS), name
        capsys.readouterr()
        for colours, width in (("light", 1280), ("dark", 390)):
            page = opened((tmp_path / f"{name}.html").as_uri(), width=width, colours=colours)
            found = page.evaluate(SHOWN)
            assert found["title"] and found["text"] > 60 and found["scripts"] == 0, name
            assert all(found["pictures"]), f"{name}: a picture is not shown"
            assert found["colours"][0] != found["colours"][1], name
            seen[f"{name} {colours}"] = found
            page.close()
    assert len(seen) == 2 * len(LINES)
    assert {name: each["colours"] for name, each in seen.items() if name.endswith("light")}["run light"] != (
        seen["run dark"]["colours"]
    ), "light and dark look different"
    assert [name for name, each in seen.items() if each["wide"] > 0] == [], "these do not fit the width"
