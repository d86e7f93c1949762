"""Does the tree keep the rules of the house?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.pending import PENDING
from tests.architecture.rules import RULES, Rule

ROOT = Path(__file__).resolve().parents[2]


def is_of(violation: str, pending: str) -> bool:
    """Whether a violation is that of a folder or file, or in a file below the folder."""
    place = violation.partition(":")[0]
    return place == pending or (place.endswith(".py") and place.startswith(f"{pending}/"))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Rule) -> None:
    pending = PENDING.get(rule.__name__, ())
    found = rule(ROOT)
    new = [each for each in found if not any(is_of(each, folder) for folder in pending)]
    assert not new, "\n".join([rule.__doc__ or "", *new])
    done = [folder for folder in pending if not any(is_of(each, folder) for each in found)]
    assert not done, f"take out of pending.py: {', '.join(done)}"


def test_what_is_pending_belongs_to_a_rule() -> None:
    assert set(PENDING) <= {rule.__name__ for rule in RULES}
