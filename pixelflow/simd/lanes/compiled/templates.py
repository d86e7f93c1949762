"""Templates: the code of meanings that differ in a few numbers, recorded once and filled in for many at a time.

A template is the code of one meaning, and where in it the numbers stand. That a meaning takes its numbers by `affine`
alone, and unchanged, is looked at: it is recorded with two different sets of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.engine import Numbered
from pixelflow.simd.lanes.form import Op, Part

__all__ = ["CompiledTemplate", "LazyParts", "filled", "template_of"]

_TRIAL = tuple([0x123456789ABCDE00 + 0x1357 * index for index in range(1, 9)])
_TRIALS = _TRIAL, tuple([~number for number in _TRIAL])
"""Two sets of numbers that nothing else is equal to, and that differ in every bit."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTemplate:
    """Code of a meaning, to be filled in with numbers."""

    meaning: Numbered
    numbers: int
    parts: Sequence[Part]
    code: NDArray[np.int64]
    """Its words, with those of a trial for numbers."""
    places: tuple[tuple[int, int], ...] = ()
    """For each place among the words where a number stands: it, and which number."""
    slopes: tuple[tuple[int, int], ...] = ()
    """The numbers that are A and B of an affine value: where both are 0 it is recorded as a constant."""
    is_fixed: bool = True
    """Whether the code is the same but for the numbers; else each set of numbers is recorded by itself."""

    def alone(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each row of numbers whether this is not its code."""
        found = np.full(len(numbers), not self.is_fixed)
        for a, b in self.slopes:
            found |= (numbers[:, a] == 0) & (numbers[:, b] == 0)
        return found


class LazyParts(Sequence[Part]):
    """Parts of which the number is known, and which are made when they are asked for: most never are."""

    def __init__(self, count: int, make: Callable[[], list[Part]]) -> None:
        self._count, self._make = count, make
        self._made: list[Part] | None = None

    def _all(self) -> list[Part]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Part]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Part: ...
    @overload
    def __getitem__(self, index: slice) -> list[Part]: ...
    def __getitem__(self, index: int | slice) -> Part | list[Part]:
        return self._all()[index]


def template_of(
    meaning: Numbered, numbers: int, prepare: Callable[[Sequence[int]], tuple[Sequence[Part], NDArray[np.int64]]]
) -> CompiledTemplate:
    """Return the template of a meaning that takes so many numbers; ``prepare`` gives its parts and code with some."""
    parts, code = prepare(_TRIALS[0][:numbers])
    if not numbers:
        return CompiledTemplate(meaning, numbers, parts, code)
    others, other_code = prepare(_TRIALS[1][:numbers])
    number_of = {pair: index for index, pair in enumerate(zip(*_TRIALS, strict=True))}
    is_fixed = [each.form for each in parts] == [each.form for each in others] and len(code) == len(other_code)
    places: list[tuple[int, int]] = []
    slopes: list[tuple[int, int]] = []
    if is_fixed:
        for at in np.flatnonzero(code != other_code).tolist():
            number = number_of.get((int(code[at]), int(other_code[at])))
            is_fixed = is_fixed and number is not None
            places.append((at, -1 if number is None else number))
        trial = {value: index for index, value in enumerate(_TRIALS[0])}
        for part in parts:
            for step in part.form.steps:
                if step.op is Op.AFFINE:
                    a, b = part.operands[step.detail : step.detail + 2]
                    slopes.append((trial.get(a, -1), trial.get(b, -1)))
        is_fixed = is_fixed and all(min(each) >= 0 for each in slopes)
    if not is_fixed:
        return CompiledTemplate(meaning, numbers, parts, code, is_fixed=False)
    return CompiledTemplate(meaning, numbers, parts, code, tuple(places), tuple(slopes))


def filled(
    templates: Sequence[CompiledTemplate],
    which: NDArray[np.intp],
    numbers: NDArray[np.int64],
    prepare: Callable[[CompiledTemplate, Sequence[int]], tuple[Sequence[Part], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], int]:
    """Return the code of many meanings one after the other, and how many parts they have.

    ``which`` is the template of each, and ``numbers`` has a row for each. ``prepare`` serves those that are recorded by
    themselves.
    """
    lengths = np.array([len(each.code) for each in templates], np.intp)[which]
    counts = np.array([len(each.parts) for each in templates], np.intp)[which]
    rows_of = [np.flatnonzero(which == kind) for kind in range(len(templates))]
    own: dict[int, NDArray[np.int64]] = {}
    for kind, template in enumerate(templates):
        if template.numbers:
            alone = template.alone(numbers[rows_of[kind]])
            for row in rows_of[kind][alone].tolist():
                parts, own[row] = prepare(template, numbers[row, : template.numbers].tolist())
                lengths[row], counts[row] = len(own[row]), len(parts)
            rows_of[kind] = rows_of[kind][~alone]
    starts = np.cumsum(lengths) - lengths
    code = np.empty(int(lengths.sum()), np.int64)
    for template, rows in zip(templates, rows_of, strict=True):
        if len(rows):
            at = starts[rows]
            code[at[:, None] + np.arange(len(template.code))] = template.code
            for place, number in template.places:
                code[at + place] = numbers[rows, number]
    for row, words in own.items():
        code[starts[row] : starts[row] + len(words)] = words
    return code, int(counts.sum())
