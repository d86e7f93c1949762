"""Is what the sample changes code, and all of it, and are the tests that could notice the ones that are run?"""

from __future__ import annotations

import ast
import gc
import json
from pathlib import Path

import coverage
import pytest

from tests.mutation.learned import Learned
from tests.mutation.replaced import functions_by_file, replacements
from tests.mutation.sites import Site, drawn, sites

TEXT = '''"""A file with 1 number in its text."""

__all__ = ["half"]

SIZE: "1 + 1" = 4
Kind = int | None

@decorated(3)
def half(value: "2", *, least=0) -> "3 + 4":
    """Return 1 / 2 of it."""
    if not value:
        raise ValueError(f"{value + 1} is less than 2")
    found.append(
        value
    )
    value -= 1
    return value // 2 if value > least and value is not True else 0
'''


def found(folder: Path, text: str) -> list[Site]:
    (folder / "room").mkdir()
    (folder / "room" / "file.py").write_text(text, encoding="utf-8")
    return list(sites(folder, folder / "room" / "file.py"))


def test_code_is_changed_and_text_is_not(tmp_path):
    seen = sorted((site.line, site.kind, site.old, site.new) for site in found(tmp_path, TEXT))
    both = "value > least and value is not True"
    assert seen == sorted(
        [
            (5, "constant", "4", "(5)"),
            (8, "constant", "3", "(4)"),
            (9, "constant", "0", "(1)"),
            (11, "condition", "not value", "(not not value)"),
            (11, "not", "not value", "(value)"),
            (13, "call", "found.append(\n        value\n    )", "(None\n\n)"),
            (16, "operator", "1", "(-(1))"),
            (16, "constant", "1", "(2)"),
            (17, "result", f"value // 2 if {both} else 0", "(None)"),
            (17, "condition", both, f"(not ({both}))"),
            (17, "and/or", both, "(value > least or value is not True)"),
            (17, "comparison", "value > least", "(value >= least)"),
            (17, "comparison", "value is not True", "(value is True)"),
            (17, "constant", "True", "(False)"),
            (17, "operator", "value // 2", "(value * 2)"),
            (17, "constant", "2", "(3)"),
            (17, "constant", "0", "(1)"),
        ]
    )


def test_a_change_stands_in_its_place_and_keeps_the_lines(tmp_path):
    for site in found(tmp_path, TEXT):
        changed = site.applied(TEXT)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(TEXT))
        first, last = site.statement
        lines = TEXT.splitlines()
        assert len(changed.splitlines()) == len(lines)
        assert [
            (a, b) for a, b in enumerate(changed.splitlines(), 1) if b != lines[a - 1] and not first <= a <= last
        ] == []


def test_what_runs_at_import_has_no_function_and_a_statement_ends_where_its_body_begins(tmp_path):
    places = {(site.line, site.kind): (site.function, site.statement) for site in found(tmp_path, TEXT)}
    assert places[5, "constant"] == (0, (5, 5))
    assert places[8, "constant"] == places[9, "constant"] == (0, (8, 9))
    assert places[11, "condition"] == (8, (11, 11))
    assert places[13, "call"] == (8, (13, 15))


def test_the_sample_is_of_one_change_a_line_and_the_same_for_the_same_seed(tmp_path):
    total = len({site.line for site in found(tmp_path, TEXT)})
    chosen = drawn(tmp_path, ["room"], 4, 1)
    assert chosen == drawn(tmp_path, ["room"], 4, 1) != drawn(tmp_path, ["room"], 4, 2)
    assert len({site.line for site in chosen}) == len(chosen) == 4
    assert len(drawn(tmp_path, ["room"], 100, 1)) == total


def test_functions_that_are_imported_are_replaced_also_inside_others(tmp_path, monkeypatch):
    text = """def outer(start):
    def inner(step):
        return start + step
    return inner


def other():
    return 1


def pair():
    return (lambda: 1), (lambda: 2)
"""
    path = tmp_path / "file_to_be_replaced.py"
    path.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import file_to_be_replaced as file

    made = file.outer(10)
    gc.freeze()  # as `conftest` does after everything is imported
    functions = functions_by_file(tmp_path)[str(path)]
    changed = replacements(functions, text, text.replace("start + step", "start * step"))
    assert {function.__qualname__ for function, _ in changed} == {"outer", "outer.<locals>.inner"}
    for function, code in changed:
        function.__code__ = code
    assert (made(3), file.outer(10)(3), file.other()) == (30, 30, 1)
    assert replacements(functions, text, text.replace("return start + step", "return step")) is None
    assert replacements(functions, text, text.replace("(lambda: 1)", "(lambda: 3)")) is None


@pytest.fixture
def learned(tmp_path) -> Learned:
    """Lines 11 to 17 are carried out by some of five tests, of which one failed and one takes a minute."""
    data = coverage.CoverageData(str(tmp_path / "coverage"))
    for context, lines in [
        ("", [5, 8, 9]),
        ("tests/a.py::quick|run", [11, 16]),
        ("tests/a.py::long|run", [11, 12, 16]),
        ("tests/a.py::failed|run", [11, 16]),
        ("tests/b.py::other|setup", [11]),
    ]:
        data.set_context(context)
        data.add_lines({"room/file.py": lines})
    data.write()
    times = [("a.py::quick", "passed", 0.1), ("a.py::long", "passed", 60.0), ("a.py::failed", "failed", 0.1)]
    times += [("b.py::other", "passed", 0.2), ("b.py::other", "passed", 0.2), ("c.py::far", "passed", 0.1)]
    lines = [json.dumps([f"tests/{name}", outcome, seconds]) for name, outcome, seconds in times]
    (tmp_path / "times").write_text("\n".join(lines), encoding="utf-8")
    return Learned(tmp_path)


@pytest.mark.parametrize(
    "line, longest, names",
    [
        (16, 100, ["a.py::quick", "a.py::long", "b.py::other"]),
        (16, 10, ["a.py::quick", "b.py::other"]),
        (16, 0.3, ["a.py::quick"]),
        (17, 100, []),
        (5, 100, ["a.py::quick", "a.py::long", "b.py::other"]),
    ],
)
def test_the_tests_of_a_line_come_first_and_none_run_where_none_carries_it_out(tmp_path, learned, line, longest, names):
    site = next(site for site in found(tmp_path, TEXT) if site.line == line)
    assert learned.at_import(site) == (line == 5)
    assert learned.chosen(site, ["tests"], longest) == [f"tests/{name}" for name in names]
