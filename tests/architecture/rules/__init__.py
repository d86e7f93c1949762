"""The rules of the house: each a function that takes the root of a tree and returns what breaks it, with the place."""

from collections.abc import Callable
from pathlib import Path

from tests.architecture.rules import commands, core, english, folders, machines, mnemonics, rooms, texts

Rule = Callable[[Path], list[str]]

RULES: tuple[Rule, ...] = tuple(
    each
    for file in (commands, core, english, folders, machines, mnemonics, rooms, texts)
    for name, each in vars(file).items()
    if getattr(each, "__module__", "") == file.__name__
    and each.__annotations__ == {"root": "Path", "return": "list[str]"}
)
"""Every function of these files that takes a root and returns a list of texts."""
