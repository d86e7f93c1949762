"""Papers as data: what each claims, where, and which measure checks it."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from pixelflow.evidence.claim import (
    Check,
    CheckedClaim,
    Claim,
    ClaimClass,
    ClaimVerdict,
    Measured,
    Note,
    Row,
    RowVerdict,
)
from pixelflow.evidence.derivation import Number
from pixelflow.simd.errors import nearest
from pixelflow.simd.machine import AnyMachine
from pixelflow.simd.report import Json

# Bench: what measures are made on, which keeps what was measured for as long as it lives.


_Kept = TypeVar("_Kept")


class NotMeasured(Exception):
    """A measure that cannot be made on this bench; its text says why."""


class Remark(NamedTuple):
    """Statement of a report on everything that was executed on a bench."""

    key: str
    """In JSON."""
    text: str = ""
    data: Json = None


class Bench:
    """Measurements that several claims share, each made once; nothing outlives the bench."""

    def __init__(self) -> None:
        self.progress: Callable[[str], None] = lambda text: None
        """Receives a line for what takes a while, before it begins."""
        self.timing_only = False
        """True where measures leave out the results that they would compute in addition."""
        self.executed: dict[Hashable, object] = {}
        """Subjects of `remarks`, by a key unique to each execution; those of other benches can be added."""
        self._kept: dict[Hashable, object] = {}

    def remarks(self) -> tuple[Remark, ...]:
        """Return what is to be said of all that was executed so far (`executed`), each once."""
        return ()

    def once(self, key: Hashable, compute: Callable[[], _Kept], text: str = "") -> _Kept:
        """Return the result of ``compute``, computed once on this bench; ``text`` describes it to the progress line."""
        if key not in self._kept:
            if text:
                self.progress(text)
            self._kept[key] = compute()
        return cast("_Kept", self._kept[key])


def return_pages() -> None:
    """Have the C library return the pages between arrays that a measure has left, before others need larger ones."""
    with suppress(AttributeError, OSError, TypeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)


_Bench = TypeVar("_Bench", bound=Bench)


@dataclass(frozen=True, eq=False)
class Paper(Generic[_Bench]):
    """A paper as data, and the measures of its claims by their names."""

    name: str
    title: str
    claims: tuple[Claim, ...]
    """In the order of the paper."""
    measures: Mapping[str, Callable[[_Bench, Mapping[str, Number]], Measured]]
    """Each takes a bench, and the claim's printed figures for what is stated relative to them."""
    bench: Callable[[Callable[[object], None]], _Bench]
    """Makes a bench; its argument is called with every machine that is built, before it runs."""
    efforts: Mapping[str, int] = field(default_factory=dict)
    """How long measures take compared with the others, in their order, where it is more than 1: seconds, not less."""
    notes: tuple[Note, ...] = ()
    """All that rows and claims refer to, in order."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Tables and pictures that print no quantity, and why."""
    closing: str = ""
    """Closing remark: the limits of all of it."""
    kinds: str = "claim or a place of one"
    """Noun for messages on an unknown name: "NAME is not a ..."."""
    preset: str = ""
    """The preset of configurations that all is measured on, where runs can be watched."""
    sha256: str = ""
    """The hash of that configuration."""
    plain: Callable[[str], str] = str.lower
    """Gives a name as written by a user the form that names, or places, have here."""
    by_place: bool = True
    """True where a claim is also called by its place."""
    computes: bool = False
    """True where its measures compute results too, which a bench can leave out (`Bench.timing_only`)."""
    curves: frozenset[str] = frozenset()
    """Claims with curves."""

    @property
    def in_words(self) -> bool:
        """True where its claims are sentences."""
        return any(claim.classes for claim in self.claims)

    def called(self, given: str) -> tuple[str, ...]:
        """Return the names of the claims that are called so, by name or place."""
        plain = self.plain(given)
        return tuple(claim.name for claim in self.claims if given.lower() == claim.name or plain in self._names(claim))

    def nearest(self, given: str) -> str | None:
        """Return the name or place that is most like another."""
        if not self.by_place:
            return nearest(self.plain(given), [claim.name for claim in self.claims])
        return nearest(given, [claim.name for claim in self.claims] + sorted({claim.place for claim in self.claims}))

    def _names(self, claim: Claim) -> Iterable[str]:
        if not self.by_place:
            return (claim.name,)
        return map(self.plain, (claim.place, *claim.place.split(",")))

    def effort(self, claim: Claim) -> int:
        """Return how long the measure of a claim takes compared with others; more than 1 is seconds."""
        return self.efforts.get(claim.name, 1)

    def find(self, claim: Claim, bench: _Bench, *, quick: bool = False) -> CheckedClaim:
        """Measure a claim now, except for what was measured on the bench before; ``quick`` omits what takes seconds."""
        if quick and self.effort(claim) > 1:
            return CheckedClaim(claim, None, "takes seconds, left out")
        measure = self.measures.get(claim.name)
        if measure is None:
            return CheckedClaim(claim, None, claim.reason)
        try:
            return CheckedClaim(claim, measure(bench, claim.values))
        except NotMeasured as why:
            return CheckedClaim(claim, None, str(why))
        finally:
            return_pages()

    def rows(self, name: str, bench: _Bench) -> tuple[Row, ...]:
        """Return the rows of the claim of a name, and compute no results for it."""
        before, bench.timing_only = bench.timing_only, True
        try:
            return next(self.find(claim, bench).rows for claim in self.claims if claim.name == name)
        finally:
            bench.timing_only = before


AnyPaper: TypeAlias = Paper[Any]
"""A paper with any bench."""


class Verified(NamedTuple):
    """The findings of the chosen claims, in their order."""

    paper: AnyPaper
    findings: tuple[CheckedClaim, ...]
    remarks: tuple[Remark, ...] = ()
    """Statements on everything that was executed."""

    @property
    def complete(self) -> bool:
        """True where these are all claims of the paper."""
        return len(self.findings) == len(self.paper.claims)

    @property
    def rows(self) -> Iterator[tuple[Claim, Row]]:
        """Every row with its claim."""
        return ((found.claim, row) for found in self.findings for row in found.rows)

    @property
    def verdicts(self) -> Counter[RowVerdict]:
        """How many rows came out how."""
        return Counter(row.verdict for _, row in self.rows)

    @property
    def outcomes(self) -> Counter[ClaimVerdict]:
        """How many sentences came out how."""
        return Counter(found.verdict for found in self.findings)

    @property
    def kinds(self) -> Counter[str]:
        """How many sentences are of each kind, in words (`CheckedClaim.kind`), in the order of verdicts."""
        order = list(ClaimVerdict)
        return Counter(found.kind for found in sorted(self.findings, key=lambda found: order.index(found.verdict)))

    def failing(self, *, strict: bool = False) -> list[str]:
        """Return the names of sentences that fail: that differ, or with ``strict`` all that are not as printed."""
        bad = {ClaimVerdict.DIFFERS} | (_NOT_AS_PRINTED if strict else set())
        return [found.claim.name for found in self.findings if found.verdict in bad]

    @property
    def fitted(self) -> int:
        """How many of the equal rows are so because a parameter was fitted to the print."""
        return sum(row.fitted for _, row in self.rows)

    @property
    def compared_with_nothing(self) -> int:
        """How many rows have no published figure and no derivation: shown, and checked by nothing."""
        return sum(row.alone for _, row in self.rows)

    @property
    def few_digits(self) -> int:
        """How many of the equal rows have more digits than the print."""
        return sum(row.verdict is RowVerdict.EQUAL and row.found != row.published for _, row in self.rows)

    @property
    def checks(self) -> Iterator[tuple[Claim, Check]]:
        """Every result that was computed, with its claim."""
        return ((found.claim, check) for found in self.findings for check in found.checks)

    @property
    def wrong(self) -> list[tuple[Claim, Check]]:
        """The results that are not right."""
        return [(claim, check) for claim, check in self.checks if not check.held]

    @property
    def classes(self) -> Counter[ClaimClass]:
        """How many claims are of each class; a claim of two counts in both."""
        return Counter(each for found in self.findings for each in found.claim.classes)

    @property
    def measured(self) -> int:
        """Rows whose figure was measured."""
        return sum(row.measured is not None for _, row in self.rows)

    @property
    def formula_only(self) -> int:
        """Rows that have a formula and nothing measured."""
        return sum(row.measured is None and row.formula is not None for _, row in self.rows)

    @property
    def notes(self) -> list[Note]:
        """The notes that rows or whole claims refer to, in the paper's order."""
        used = {note.name for found in self.findings for note in found.claim.notes}
        used |= {note.name for _, row in self.rows for note in row.notes}
        return [note for note in self.paper.notes if note.name in used]

    def failures(self, *, strict: bool = False) -> list[tuple[Claim, Row]]:
        """Return the rows that fail: those that are off, or with ``strict`` all that are not as published."""
        bad = {RowVerdict.OFF} | (_TOLD if strict else set())
        return [(claim, row) for claim, row in self.rows if row.verdict in bad]


_TOLD = {RowVerdict.PREDICTED, RowVerdict.CONTRADICTION, RowVerdict.READING, RowVerdict.UNEXPLAINED}
"""Verdicts of rows that differ from the print for a stated reason."""


_NOT_AS_PRINTED = frozenset({ClaimVerdict.CONTRADICTED, ClaimVerdict.MISSED})


def paper_of(machine: AnyMachine) -> AnyPaper | None:
    """Return the paper of a machine, imported now; None where there is none."""
    return resolve_name(machine.paper) if machine.paper else None
