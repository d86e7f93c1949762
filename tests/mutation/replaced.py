"""Replacement of functions that are imported already by what the changed text of their file says."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

__all__ = ["replacements"]

_Codes = dict[tuple[str, int], list[CodeType]]


def functions_by_file(root: Path) -> dict[str, list[FunctionType]]:
    """Return the functions of all files of a tree that are imported."""
    found: defaultdict[str, list[FunctionType]] = defaultdict(list)
    gc.unfreeze()  # what `conftest` has frozen is not listed
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename.startswith(f"{root}/"):
            found[each.__code__.co_filename].append(each)
    return found


def replacements(functions: list[FunctionType], old: str, new: str) -> list[tuple[FunctionType, CodeType]] | None:
    """Return the functions of a file whose code changes, with the code; None where it is not clear which.

    Unclear are several functions of a name in one line, and a function that takes other variables from outside.
    A file that is not imported yet has none: it is read from the disk when a test imports it.
    """
    name = functions[0].__code__.co_filename if functions else ""
    before, after = (_codes(compile(text, name, "exec", dont_inherit=True)) for text in (old, new))
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    if not changed or any(len(codes.get(key, ())) != 1 for codes in (before, after) for key in changed):
        return None
    found = []
    for each in functions:
        key = (each.__code__.co_qualname, each.__code__.co_firstlineno)
        if key in changed:
            (code,) = after[key]
            if len(code.co_freevars) != len(each.__code__.co_freevars):
                return None
            found.append((each, code))
    return found


def _codes(code: CodeType) -> _Codes:
    """Return the code of all functions in a file, by name and first line."""
    found: _Codes = {}
    for each in _inside(code):
        if not each.co_name.startswith("<") or each.co_name == "<lambda>":
            found.setdefault((each.co_qualname, each.co_firstlineno), []).append(each)
    return found


def _inside(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _inside(each)
