"""Does any file at all lead to anything but a result or a message, within bounds?

The inputs are drawn from the kind and a number, so that a failure can be drawn again. Tried by hand with a million.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pixelflow.simd.errors import SimulatorError, format_error
from tests.files.kinds_of_files import KINDS

INPUTS = 100
"""Of each kind by default; some 2,600 in all."""
MILLION = 1_000_000
LONGEST_MESSAGE = 20_000


def attempt(name: str, number: int, folder: Path) -> bool:
    """Read a damaged file; return whether it was refused. Anything but a message of the tree of errors comes out."""
    kind = KINDS[name]
    path = folder / f"damaged{kind.suffix}"
    path.write_bytes(kind.damage(kind.good(), random.Random(f"{name} {number}")))
    try:
        kind.read(path)
    except SimulatorError as error:
        text = format_error(error)
        assert error.exit_code != 70, text
        assert all(c.isprintable() or c in "\n\t" for c in text), ascii(text)
        assert len(text) < LONGEST_MESSAGE, text[:500]
        return True
    return False


@pytest.mark.parametrize("name", KINDS)
def test_a_good_file_is_read(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    path = tmp_path / f"good{kind.suffix}"
    path.write_bytes(kind.good())
    kind.read(path)


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    inputs = INPUTS // KINDS[name].cost
    refused = sum(attempt(name, number, tmp_path) for number in range(inputs))
    assert refused >= inputs // 20, "hardly any input was damaged enough to be refused"


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_million_damaged_files(name: str, tmp_path: Path) -> None:
    for number in range(MILLION // len(KINDS) // KINDS[name].cost):
        attempt(name, number, tmp_path)
