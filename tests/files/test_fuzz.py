"""Does any file, or message of the page, lead to anything but a result or a message, with outputs that are whole?

The inputs are drawn from the kind and a number, so that a failure can be drawn again.
"""

from __future__ import annotations

import pytest

from tests.files.attempts import Attempts
from tests.files.kinds_of_files import KINDS

pytest.importorskip("trimesh", reason="trimesh is not installed")
pytest.importorskip("PIL", reason="Pillow is not installed")

FEW = 2
ALL = 30_000


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> Attempts:
    return Attempts(tmp_path_factory.mktemp("damaged"))


@pytest.mark.parametrize("name", KINDS)
def test_a_good_file_is_read(name: str, attempts: Attempts) -> None:
    assert not any(attempts.good(name))


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_read_or_refused(name: str, attempts: Attempts) -> None:
    for number in range(FEW):
        _, wrong = attempts.damaged(name, number)
        assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_30_000_damaged_files(name: str, attempts: Attempts) -> None:
    inputs = ALL // len(KINDS) + 1
    found = [attempts.damaged(name, number) for number in range(inputs)]
    wrong = [each for _, all_wrong in found for each in all_wrong]
    assert not wrong, "\n\n".join(wrong)
    assert sum(refused for refused, _ in found) > inputs // 20, "hardly any input was damaged enough to be refused"
