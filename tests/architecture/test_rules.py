"""Does the tree keep the rules of the house?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.rules import RULES, Rule

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Rule) -> None:
    found = rule(ROOT)
    assert not found, "\n".join([rule.__doc__ or "", *found])
