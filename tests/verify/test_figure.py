"""Are the curves drawn from what was found, and is a missing library said at once?"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree

import pytest

from tessellation.reproduction import ThesisBench


def test_without_matplotlib_nothing_runs(verify, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(ThesisBench, "__init__", None)
    result = verify(6, "--figure", tmp_path / "curves.png")
    assert result.code == 3
    assert "--figure needs matplotlib" in result.err and "[plot]'" in result.err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_figure_of_the_tables_asked_for(verify, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    assert verify(6, "figure13", "-q", "--timing-only", "--figure", first).code == 0
    assert verify(6, "figure13", "-q", "--timing-only", "--figure", second).code == 0
    assert first.read_bytes() == second.read_bytes()
    ElementTree.parse(first)
    text = first.read_text(encoding="utf-8")
    for word in ("One transfer of 32 bytes to every block", "sends per block", "Stages of a pass"):
        assert f"<!-- {word}" in text, word
    assert "control nets" not in text, "tables 7 and 12 were not asked for"


def test_a_picture(verify, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    image = pytest.importorskip("PIL.Image", reason="the extra image is not installed")
    path = tmp_path / "curves.png"
    assert verify(6, "-q", "--timing-only", "--figure", path).code == 0
    with image.open(path) as picture:
        assert picture.size == (1200, 540) and len(picture.convert("RGB").getcolors(1 << 20)) > 100


def test_tables_without_curves_are_said(verify, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    result = verify(2, "--figure", tmp_path / "curves.png")
    assert result.code == 2
    assert "there are curves of figure 13, table 12, table 6, table 7" in result.err
