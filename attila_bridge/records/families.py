"""Families of recorded runs: slopes along a row of scenes, orders and ratios along a sweep of one scene."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import nan
from statistics import median

from attila_bridge.records.classes import RecordRow, within
from attila_bridge.records.files import RecordedRun
from attila_bridge.records.measured import RunFigures

__all__ = ["rows_of_families"]

_DRAWING = "cycles_drawing"
_SLOPES = {
    "a layer": re.compile(r"(?:layers|z|blend)(?:512)?(?:_[a-z]+)*_(\d+)"),
    "a triangle": re.compile(r"many(?:_[a-z]+)*_(\d+)"),
    "a quad of the grid": re.compile(r"grid(?:512)?_(\d+)"),
    "an instruction": re.compile(r"(?:alu_[a-z]+|ratio_\d+|vert_program)_(\d+)"),
    "a texture read": re.compile(r"ratio_(\d+)_\d+"),
    "a vertex": re.compile(r"vert_(?:mesh|offscreen)_(\d+)"),
}
"""What slopes are judged of, and the number in the names of scenes that says how many of it there are.

Other numbers are sizes: of a texture, of a triangle's leg, of the screen."""
_APART = 0.05
"""Neighbours of a sweep that are this share apart must come in the recorded order."""

Found = tuple[RecordedRun, RunFigures]


def rows_of_families(found: Sequence[Found]) -> Iterator[RecordRow]:
    """Yield the rows that take several runs: slopes, medians, orders, ratios."""
    found = [each for each in found if _DRAWING in each[0].columns]
    yield from _slopes(found)
    yield from _median(found)
    yield from _orders("A8", [each for each in found if each[0].machine == "paper"])
    case = [each for each in found if each[0].machine == "case"]
    yield from _orders("A10", case)
    yield from _ratios(case)


def _slopes(found: Iterable[Found]) -> Iterator[RecordRow]:
    """Yield how many cycles a family's last scene takes more than its first: names that differ in one number."""
    families: dict[tuple[str, str], list[tuple[int, Found]]] = {}
    for each in found:
        run = each[0]
        if run.overrides or run.machine != "paper":
            continue
        for what, names in _SLOPES.items():
            match = names.fullmatch(run.scene)
            if match is not None:
                name = f"{run.scene[: match.start(1)]}N{run.scene[match.end(1) :]}"
                families.setdefault((name, what), []).append((int(match[1]), each))
    for (name, what), members in families.items():
        members.sort(key=lambda member: member[0])
        (low, first), (high, last) = members[0], members[-1]
        if low == high:
            continue
        recorded = last[0].columns[_DRAWING] - first[0].columns[_DRAWING]
        here = _here(last) - _here(first)
        yield within("A5", name, f"{what}: cycles from {low} to {high}", recorded, here, 0.10)


def _median(found: Iterable[Found]) -> Iterator[RecordRow]:
    sizes = [
        abs(_here(each) / each[0].columns[_DRAWING] - 1)
        for each in found
        if each[0].machine == "paper" and not each[0].overrides and each[0].group != "mixed"
    ]
    if sizes:
        middle = median(sizes)
        yield RecordRow("A7", "all synthetic scenes", "median deviation of drawing", 0, middle, 0.08, middle <= 0.08)


def _sweeps(found: Iterable[Found]) -> Iterator[tuple[str, list[Found]]]:
    """Yield the runs of one scene whose machine differs in the same parameters, the plain one among them."""
    plain = {each[0].scene: each for each in found if not each[0].overrides}
    sweeps: dict[tuple[str, tuple[str, ...]], list[Found]] = {}
    for each in found:
        if each[0].overrides:
            sweeps.setdefault((each[0].scene, tuple(sorted(each[0].overrides))), []).append(each)
    for (scene, keys), members in sweeps.items():
        names = "+".join(key.rpartition(".")[2] for key in keys)
        yield f"{scene} by {names}", [*members, *([plain[scene]] if scene in plain else [])]


def _orders(kind: str, found: Sequence[Found]) -> Iterator[RecordRow]:
    for name, members in _sweeps(found):
        members.sort(key=lambda each: each[0].columns[_DRAWING])
        for slower, faster in pairwise(reversed(members)):
            recorded = slower[0].columns[_DRAWING] / faster[0].columns[_DRAWING]
            if recorded > 1 + _APART:
                here = _here(slower) / _here(faster)
                figure = f"{_short(slower)} slower than {_short(faster)}"
                yield RecordRow(kind, name, figure, recorded, here, 0, here > 1)


def _ratios(found: Sequence[Found]) -> Iterator[RecordRow]:
    """Yield the drawing of every run of a scene as a multiple of its first in the folder's order."""
    first: dict[str, Found] = {}
    for each in found:
        base = first.setdefault(each[0].scene, each)
        if base is not each:
            recorded = each[0].columns[_DRAWING] / base[0].columns[_DRAWING]
            yield within(
                "A10", each[0].name, f"as multiple of {_short(base)}", recorded, _here(each) / _here(base), 0.15
            )


def _here(each: Found) -> float:
    return each[1].columns.get(_DRAWING, nan)


def _short(each: Found) -> str:
    return "+".join(f"{key.rpartition('.')[2]}={value}" for key, value in each[0].overrides.items()) or "as it is"
