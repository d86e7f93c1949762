"""Does the table of the walk say what its frames took?"""

from pathlib import Path

import pytest

from larrabee_bridge.claims.bench import PLAIN, SHADOWED, STAGES, drawn
from larrabee_bridge.claims.frames import together
from tests.larrabee_claims.test_verdicts import BENCH

PAGE = Path(__file__).resolve().parents[2] / "docs/pages/larrabee.md"
MARK = "<!-- read by: tests/larrabee_claims/test_walk_table.py -->\n"


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
    table = rows()
    for key, name in (("plain", PLAIN), ("shadowed", SHADOWED)):
        frames = [drawn(BENCH.seen(name, at)) for at in range(25)]
        assert all(each.same for each in frames)
        means = together(frames)
        shares, cycles = [each.parts["raster"] for each in frames], [each.cycles for each in frames]
        assert table[key][:4] == [f"{100 * means[stage]:.1f} %" for stage in STAGES]
        assert table[key][4:] == [
            f"{100 * min(shares):.1f} to {100 * max(shares):.1f} %",
            f"{min(cycles) / 1e6:.1f} to {max(cycles) / 1e6:.1f}",
        ]
