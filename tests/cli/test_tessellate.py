"""`pixelflow tessellate`: what its report has in common with `run`, and outputs that cannot be made."""

from pathlib import Path

import pytest

FLAT = "1\n3 3\n" + "1 1 1\n" * 16
SMALL = ("--preset", "tiny", "--samples", "2")


@pytest.fixture
def flat(folder: Path) -> Path:
    (folder / "flat.bpt").write_text(FLAT)
    return folder


def test_a_failing_preview_loses_nothing(pixelflow, flat: Path) -> None:
    """A mesh whose points are all the same cannot be drawn."""
    pytest.importorskip("PIL")
    result = pixelflow("tessellate", "flat.bpt", *SMALL, "-o", "flat.obj", "--preview", "flat.png")
    assert result.code == 0
    assert "\nnote: no preview: " in result.err
    assert "wrote               flat.obj" in result.out and "flat.png" not in result.out
    assert (flat / "flat.obj").exists() and not (flat / "flat.png").exists()


def test_the_report_fits_and_counts_one_as_one(pixelflow, flat: Path) -> None:
    out = pixelflow("tessellate", "flat.bpt", *SMALL).out
    assert max(map(len, out.splitlines())) <= 80
    assert "1 patch of 4x4" in out
    assert len(out.splitlines()) <= 24


def test_sends_need_texture_memory(pixelflow, flat: Path) -> None:
    result = pixelflow("tessellate", "flat.bpt", *SMALL, "--control-points", "lee", "--sends", "2")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("--sends: error: ")


def test_headers_with_commas_are_one_fault(pixelflow, flat: Path) -> None:
    (flat / "commas.bpt").write_text(FLAT.replace("1\n3 3", "2\n3,3") + "3,3\n" + "1 1 1\n" * 16)
    result = pixelflow("tessellate", "commas.bpt", *SMALL)
    assert result.code == 3 and result.err.count("error: ") == 1
    assert "commas.bpt:" in result.err
