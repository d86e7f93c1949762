"""Does the notebook tour run, does its first page show teapot, map and table, and is every output short?"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

import pixelflow
from pixelflow.course import TOUR

LARGEST = 20_000
"""Characters of one output with all its forms."""

nbformat = pytest.importorskip("nbformat", reason="the tour is executed with nbclient (extra `notebook`)")
nbclient = pytest.importorskip("nbclient", reason="the tour is executed with nbclient (extra `notebook`)")
pytest.importorskip("ipykernel", reason="the tour is executed with ipykernel (extra `notebook`)")
pytest.importorskip("pandas", reason="the tour shows data frames (extra `frames`)")
pytest.importorskip("anywidget", reason="the tour looks into a run (extra `notebook`)")
pytest.importorskip("PIL", reason="the tour shows pictures (extra `image`)")


def _shown(cell: dict) -> dict[str, str]:
    """Return the forms in which a cell shows its result."""
    (output,) = (each for each in cell["outputs"] if "data" in each)
    return output["data"]


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    notebook = nbformat.read(TOUR, as_version=4)
    nbformat.validate(notebook)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(pixelflow.__file__).parents[1]))
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        folder = str(tmp_path_factory.mktemp("away"))
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_no_outputs_are_kept_in_the_file() -> None:
    kept = [cell for cell in json.loads(TOUR.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(kept) >= 8 and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in kept)


@pytest.mark.slow
def test_the_first_page_is_three_lines(cells: list[dict]) -> None:
    first = cells[:4]
    assert [cell["source"].count("\n") for cell in first] == [0, 0, 0, 0], "an import, and three lines"
    teapot, run, picture = (_shown(cell)["text/html"] for cell in first[1:])
    for page in (teapot, picture):
        data = page.partition("data:image/png;base64,")[2].partition('"')[0]
        assert base64.b64decode(data)[:8] == b"\x89PNG\r\n\x1a\n"
    assert "74,734" in teapot and "derivatives" in teapot
    assert 'width="512" height="256"' in picture
    assert "15 cycles" in run and "<table>" in run


def test_no_output_is_long(cells: list[dict]) -> None:
    sizes = [sum(len(str(form)) for form in out.get("data", {"text": out.get("text", "")}).values())
             for cell in cells for out in cell["outputs"]]  # fmt: skip
    assert len(sizes) >= 9 and max(sizes) < LARGEST


def test_a_run_is_looked_into(cells: list[dict]) -> None:
    (cell,) = (each for each in cells if each["source"].startswith("pf.explore"))
    assert "application/vnd.jupyter.widget-view+json" in _shown(cell)
