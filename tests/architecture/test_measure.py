"""Do the figures of a tree of a few lines come out as they are counted by hand?"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.architecture.measure import executed, measured, private_accesses, prose_asserts, repeated
from tests.architecture.source_tree import sources

PYPROJECT = """
[[tool.mypy.overrides]]
module = ["one.*"]
ignore_errors = true

[[tool.mypy.overrides]]
module = "one.deep.part"
ignore_errors = false
"""
PART = """# A comment.
from one import part
import one.deep

__all__ = [
    "x",
]
x = 1  # a comment behind code

text = '''
# no comment

'''
"""
ASKED = """import other
from other import _hidden

def test_it(self, monkeypatch):
    assert "the wire is cut" in said
    assert said.startswith("in the core ")
    assert said == ["two words", f"cycle {x} of ten"]
    assert main(["a word of arguments"]) == 0
    assert said == "R 1 2 3" or said == ["MUL r0.xy, i8, c0", "add o1, r0"]
    assert "the wire is cut" in result.err and text == "error: the wire is cut"
    other._hidden = self._mine = other.__doc__
    monkeypatch.setattr("other.thing._hidden", 1)
    value._replace(x=1)
"""


def test_figures_of_a_small_tree(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": PYPROJECT,
        "one/__init__.py": '"""A package."""\n',
        "one/part.py": '"""A file\nof two lines."""\n',
        "one/deep/__init__.py": "",
        "one/deep/part.py": PART,
        "tests/__init__.py": "",
        "tests/test_it.py": ASKED,
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert measured(tmp_path) == {
        "lines": 16, "code lines": 5, "docstring lines": 3, "import lines": 2, "__all__ lines": 3, "comment lines": 1,
        "blank lines": 2, "files": 4, "mean lines of a file": 4, "median lines of a file": 1.5,
        "p90 lines of a file": 13, "lines of the largest file": 13, "half of the lines in files of at least": 13,
        "folders": 2, "deepest folder below a package": 1, "folders with fewer than 5 files": 2,
        "file names used more than once": 1, "files with such a name": 2, "modules with a single importer": 1,
        "lines not type-checked": 3, "lines of tests": 13, "asserts on prose": 3, "private accesses of tests": 3,
    }  # fmt: skip
    assert repeated(sources(tmp_path, "one")) == {"part.py": 2}
    assert list(prose_asserts(tmp_path / "tests/test_it.py")) == [5, 6, 7]
    assert sorted(private_accesses(tmp_path / "tests/test_it.py")) == [2, 11, 12]


def test_executed_files_are_those_whose_functions_are_called() -> None:
    """Neither the file of the import nor one outside of the product."""
    from pixelflow.simd.errors import nearest

    found = executed(lambda: (nearest("ad", ["add"]), repeated([])))
    assert {path.name for path in found} == {"errors.py"}
    assert sys.getprofile() is None
