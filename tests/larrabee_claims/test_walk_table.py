"""Does the table of the walk say what its frames took?"""

from pathlib import Path

import pytest

from larrabee_bridge.claims.frames import frames_of_the_way, stages_of_the_way
from tests.larrabee_claims.test_verdicts import BENCH

PAGE = Path(__file__).resolve().parents[2] / "docs/pages/larrabee.md"
MARK = "<!-- read by: tests/larrabee_claims/test_walk_table.py -->\n"
STAGES = ("vertices", "raster", "planes", "pixels")


def rows() -> dict[str, list[str]]:
    """Return the cells of each row, by whether volumes are drawn."""
    lines = PAGE.read_text(encoding="utf-8").split(MARK)[1].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {{"without": "plain", "with": "shadowed"}[first]: rest for first, *rest in cells}


def test_shares_are_of_the_whole() -> None:
    for cells in rows().values():
        assert sum(float(cell.rstrip(" %")) for cell in cells[:4]) == pytest.approx(100, abs=0.2)


@pytest.mark.slow
def test_the_table_is_what_is_measured() -> None:
    shares, spans = stages_of_the_way(BENCH, {}), frames_of_the_way(BENCH, {}).figures
    assert "50 of 50 pictures" in shares.text
    means = shares.figures
    for key, cells in rows().items():
        assert cells[:4] == [f"{100 * means[f'{stage}_{key}']:.1f} %" for stage in STAGES]
        least, most = (f"{100 * spans[f'{end}_{key}']:.1f}" for end in ("least", "most"))
        fewest, largest = (f"{spans[f'{end}_cycles_{key}'] / 1e6:.1f}" for end in ("least", "most"))
        assert cells[4:] == [f"{least} to {most} %", f"{fewest} to {largest}"]
