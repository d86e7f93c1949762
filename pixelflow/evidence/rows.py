"""Tables: a paper's figures with what was measured, for people and in JSON."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from pixelflow.evidence.claim import CellOf, CheckedClaim, Claim, ClaimClass, ClaimVerdict, Row, RowVerdict
from pixelflow.evidence.derivation import Derivation, Number, figure_text
from pixelflow.evidence.paper import Verified
from pixelflow.simd.report import Column, Fact, Json, Part, Table, table_object, verbatim

_ROWS_OF_A_UNIT = 3
"""With fewer rows per unit on average, each row names its unit; otherwise a heading does."""


def deviation_text(value: Number | None) -> str:
    """Return by how much a figure is off, with its sign; 0 where it is not."""
    if not value:
        return "-" if value is None else "0"
    return f"{value:+,}" if isinstance(value, int) else f"{value:+,.3g}"


def percent_text(value: float | None) -> str:
    """Return the same in percent, with two digits after the point, or more where these would all be zero."""
    if not value:
        return "-" if value is None else "0"
    return f"{value:+.2f}" if abs(value) >= 0.005 else f"{value:+.1g}"


# Tables as printed: a place has the published figure alone, or with the one here and how far that is off.


def _short(value: Number) -> str:
    """Return a figure as a printed table would have it: a fraction with three digits."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


class _Place(NamedTuple):
    """The texts of one place of a printed table."""

    published: str
    here: str
    off: str = ""
    """The deviation in per cent, where the place differs from the print."""
    same: bool = False

    @classmethod
    def of(cls, row: Row, cell: CellOf, printed: Number | None) -> _Place:
        """Return the place of a row where ``printed`` is published."""

        def text(value: Number | None) -> str:
            return "" if value is None else _short(value / cell.scale if cell.scale > 1 else value) + cell.suffix

        differs = row.published is not None and not row.met and row.percent is not None
        off = f"{row.percent:+.2f} %" if differs else ""
        same = row.found is None or (row.met and text(printed) == text(row.found))
        return cls(text(printed), text(row.found), off, same)

    @property
    def joined(self) -> str:
        """Both figures in one cell."""
        if self.same or not self.here:
            return self.published
        both = f"{self.published} / {self.here}" if self.published else self.here
        return f"{both} {self.off}".rstrip()


def _places(found: CheckedClaim) -> tuple[tuple[str, ...], list[list[str | _Place]]]:
    """Return the headings of a claim's table and its cells; without a table, its figures one below the other."""
    layout = found.claim.layout
    if layout is None:
        printed = any(row.published is not None for row in found.rows)
        return ("", "printed / here" if printed else "here"), [
            [_labelled(row), _Place.of(row, CellOf(row.item), row.published)] for row in found.rows
        ]
    rows = {(row.item, row.unit): row for row in found.rows}

    def place(cell: str | CellOf) -> str | _Place:
        if isinstance(cell, str):
            return cell
        row, of = rows.get((cell.item, cell.unit)), rows.get((cell.printed or cell.item, cell.unit))
        return "" if row is None else _Place.of(row, cell, None if of is None else of.published)

    return layout.heads, [[place(cell) for cell in cells] for cells in layout.rows]


def _labelled(row: Row) -> str:
    return row.item if row.unit in row.item else f"{row.item}, {row.unit}"


def _columns(heads: Sequence[str], cells: Sequence[Sequence[str | _Place]]) -> Iterator[tuple[str, bool, int]]:
    """Yield the heading of each column in lines of few words, whether it has figures, and its longest word."""
    room = _HEAD if len(heads) > _FEW_HEADS else _LONG_HEAD
    for head, column in zip(heads, zip(*cells, strict=True), strict=True):
        lines = "\n".join(textwrap.wrap(head, room, break_long_words=False))
        words = [word for cell in (head, *column) if isinstance(cell, str) for word in cell.split()]
        figures = any(isinstance(cell, _Place) for cell in column) or all(map(_is_number, column))
        yield lines, figures, max(map(len, words), default=0)


_HEAD, _LONG_HEAD, _FEW_HEADS, _TEXT = 12, 24, 3, 18
"""Columns of a heading before it wraps, those of a table with few columns, and columns that a text gets before others
do."""


def _is_number(cell: str | _Place) -> bool:
    return isinstance(cell, str) and cell.replace(",", "").isdigit()


def printed_table(found: CheckedClaim, title: str = "") -> Table:
    """Return a finding as the paper prints it, both figures and the deviation in one cell where they differ."""
    heads, cells = _places(found)
    columns = [
        Column(head, verbatim if figures else str, style="cyan", accent="%", least=max(longest, _TEXT))
        for head, figures, longest in _columns(heads, cells)
    ]
    texts = [[each.joined if isinstance(each, _Place) else each for each in row] for row in cells]
    if found.claim.layout is None:
        columns.append(Column("", least=max([0, *(len(word) for row in found.rows for word in _why(row).split())])))
        texts = [[*cells, _why(row)] for cells, row in zip(texts, found.rows, strict=True)]
    return Table(columns, texts, title)


def page_table(found: CheckedClaim) -> Table:
    """Return a finding as the paper prints it, and on the right of that the same columns as found here."""
    heads, cells = _places(found)
    columns, kept = [], []
    for at, (head, figures, _) in enumerate(_columns(heads, cells)):
        columns.append(Column(head, verbatim if figures else str))
        if any(isinstance(row[at], _Place) for row in cells):
            kept.append(at)
    columns += [Column(f"here: {heads[at]}", verbatim, accent="%") for at in kept]
    texts = [
        [
            *(each.published if isinstance(each, _Place) else each for each in row),
            *(
                f"{each.here} {each.off}".rstrip() if isinstance(each, _Place) else each
                for each in (row[at] for at in kept)
            ),
        ]
        for row in cells
    ]
    return Table(columns, texts)


def _why(row: Row) -> str:
    """Return how a row came out with the names of its notes."""
    return " ".join(filter(None, (verdict_text(row), *(note.name for note in row.notes))))


def reason_lines(found: CheckedClaim) -> Iterator[str]:
    """Yield why figures of a finding differ from the print or depend on a reading, each reason once, in a sentence."""
    seen: set[tuple[str, str]] = set()
    for row in found.rows:
        if row.published is None or row.found is None or row.verdict is RowVerdict.EQUAL:
            continue
        derivation = row.predicted or row.derived
        texts = {note.name: "; or ".join((note.text.split(". ")[0], *note.readings)) for note in row.notes}
        if not texts:
            texts = {"": derivation.expression if derivation is not None else "nothing gives it"}
        for name, text in texts.items():
            if (row.verdict, name) not in seen:
                seen.add((row.verdict, name))
                yield f"{verdict_text(row)}{f' ({name})' if name else ''}: {text}"


def unplaced(found: CheckedClaim) -> Iterator[str]:
    """Yield published figures that are compared with a table but have no cell in it."""
    layout = found.claim.layout
    placed = set() if layout is None else {(cell.item, cell.unit) for cell in layout.cells}
    for row in found.rows if layout is not None else ():
        if row.published is not None and (row.item, row.unit) not in placed:
            yield f"{row.item} {_Place.of(row, CellOf(row.item), row.published).joined}"


# Tables of rows: every figure with its formula, what founds it and what predicts it.


def table_parts(found: CheckedClaim) -> Iterator[Part]:
    """Yield a finding as one table, or one for each unit, what decides its figures, what predicts them, and results."""
    rows = found.rows
    units = [(unit, list(part)) for unit, part in groupby(rows, key=lambda row: row.unit)]
    if not rows:
        yield found.reason
    elif len(units) == 1 or len(units) * _ROWS_OF_A_UNIT <= len(rows):
        for index, (unit, part) in enumerate(units):
            if index:
                yield ""
            yield _table(part, f"{found.claim.name.capitalize()}, {unit}", one_unit=True)
    else:
        yield _table(rows, one_unit=False)
    yield from explanation(found)
    if found.checks:
        yield ""
        yield checks_table(found, f"{found.claim.name.capitalize()}, results")


def explanation(found: CheckedClaim) -> Iterator[Part]:
    """Yield what decides the figures of a finding, how few digits are printed, and what predicts them."""
    claim, rows = found.claim, found.rows
    for basis in dict.fromkeys(row.basis for row in rows):
        yield f"  {basis.standing}: {basis.text}"
    if digits := digits_text(claim, rows):
        yield f"  few digits: {digits}"
    yield from derivation_lines(rows)
    if found.measured is not None and found.measured.text:
        yield f"  {found.measured.text}"
    if claim.notes:
        yield f"  see also: {', '.join(note.name for note in claim.notes)}"


def digits_text(claim: Claim, rows: Sequence[Row]) -> str:
    """Return the rule by which a table prints few digits, or that of each unit where its columns differ."""
    rules = {row.unit: row.digits for row in rows if row.step and row.published is not None}
    if len(set(rules.values())) > 1:
        return ", ".join(f"{unit} {rule}" for unit, rule in rules.items())
    return "" if claim.digits is None else claim.digits


def derivation_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what predicts the rows, and what the formulas of others follow from: each expression once, evaluated."""
    for what, name in (("predicted", "predicted"), ("formula", "derived")):
        shown: set[str] = set()
        parts: set[str] = set()
        for row in rows:
            derivation: Derivation | None = getattr(row, name)
            if derivation is not None and derivation.expression not in shown:
                shown.add(derivation.expression)
                yield f"  {what}, {row.item}: {derivation.shown} = {figure_text(derivation.value)}"
                yield from (f"    {line}" for line in derivation.full[1:] if line not in parts)
                parts |= set(derivation.full[1:])


def checks_table(found: CheckedClaim, title: str = "") -> Table:
    """Return the results of a finding with what they may be."""
    columns = (
        Column("result", key="item", least=20),
        Column("found", figure_text, "found"),
        Column("allowed", figure_text, "allowed"),
        Column("of", key="unit", least=10),
        Column("", key="outcome", fixed=True),
        Column("against", key="against", least=14),
        Column(None, key="sha256"),
    )
    cells = [
        (each.item, each.found, each.most, each.unit, "held" if each.held else "WRONG", each.by, each.digest or None)
        for each in found.checks
    ]
    return Table(columns, cells, title)


def verdict_text(row: Row) -> str:
    """Return how a row came out, as a reader looks for it: nothing where it is equal; what is off in capitals.

    Rows without a published figure are predicted, or not compared with anything.
    """
    if row.verdict is RowVerdict.UNPUBLISHED:
        return "not compared" if row.alone else "as predicted"
    if row.verdict in (RowVerdict.EQUAL, RowVerdict.UNCHECKED):
        return ""
    return row.verdict.upper() if row.verdict is RowVerdict.OFF else row.verdict


def _table(rows: Sequence[Row], title: str = "", *, one_unit: bool) -> Table:
    """Return rows as people and JSON have them; deviations in percent only where there is room."""
    texts = [" ".join(filter(None, (_why(row), row.detail and f"({row.detail})"))) for row in rows]
    busy = (Column("busy", figure_text, "busy"),) if any(row.busy is not None for row in rows) else ()
    columns = (
        Column("row", least=max([0, *(len(word) for row in rows for word in row.item.split())])),
        Column("published", figure_text, "published"),
        Column("formula", figure_text, "formula"),
        Column("measured", figure_text, "measured"),
        *(busy or (Column(None, key="busy"),)),
        Column("deviation", deviation_text, "deviation"),
        Column("%", percent_text, "deviation_percent", optional=True),
        Column("standing", key="standing", fixed=True, optional=True),
        Column("verdict", least=max(len(name) for text in ("verdict", *texts) for name in text.split() or ("",))),
        *(Column(None, key=key) for key in _HIDDEN),
    )
    cells = [
        (
            row.item if one_unit else _labelled(row),
            row.published, row.formula, row.measured, row.busy, row.deviation, row.percent, str(row.basis.standing),
            text, row.item, row.unit, row.step or None, row.basis.text, row.verdict, [note.name for note in row.notes],
            row.detail or None, _derivation(row.predicted), _derivation(row.derived),
        )
        for row, text in zip(rows, texts, strict=True)
    ]  # fmt: skip
    return Table(columns, cells, title)


_HIDDEN = ("item", "unit", "printed_step", "basis", "outcome", "notes", "detail", "predicted", "derived")
"""Fields of a row that only JSON has."""


def _derivation(found: Derivation | None) -> Json:
    if found is None:
        return None
    return {"value": found.value, "expression": found.expression, "names": dict(found.names)}


def notes_table(verified: Verified) -> Table:
    """Return the notes that figures refer to, with the places that they quote and the other readings."""
    columns = (
        Column("note", key="name", fixed=True),
        Column("reason", key="reason", fixed=True),
        Column("section", key="section", least=8),
        Column("what it says", least=24),
        *(Column(None, key=key) for key in ("text", "places", "other_readings")),
    )
    rows = [
        (
            note.name, note.reason, note.section, note.full, note.text,
            [{"section": place.section, "quote": place.quote} for place in note.places], list(note.readings),
        )
        for note in verified.notes
    ]  # fmt: skip
    return Table(columns, rows, "Notes", named="name")


def table_data(verified: Verified) -> dict[str, Json]:
    """Return the whole verification for JSON; what is not known is null."""
    paper, verdicts = verified.paper, verified.verdicts
    return {
        paper.name: paper.title,
        "config": {"preset": paper.preset, "sha256": paper.sha256},
        "tables": [
            {
                "name": found.claim.name,
                "title": found.claim.title,
                "section": found.claim.place,
                "digits": found.claim.digits,
                "notes": [note.name for note in found.claim.notes],
                "rows": table_object(_table(found.rows, one_unit=True)),
                "reading": (found.measured.text if found.measured else "") or None,
                "results": table_object(checks_table(found)),
            }
            for found in verified.findings
        ],
        "notes": table_object(notes_table(verified)),
        **{remark.key: remark.data for remark in verified.remarks},
        "without_figures": paper.without if verified.complete else {},
        "summary": {
            "rows": sum(verdicts.values()),
            "outcomes": {verdict.value: verdicts[verdict] for verdict in RowVerdict},
            "equal_and_fitted": verified.fitted,
            "compared_with_nothing": verified.compared_with_nothing,
            "equal_in_few_digits": verified.few_digits,
            "measured": verified.measured,
            "formula_only": verified.formula_only,
            "results": sum(1 for _ in verified.checks),
            "wrong_results": len(verified.wrong),
        },
    }


# Sentences: a paper's claims in words, with what was measured, for people and in JSON.


_TABLE_WIDTH = 110
"""Columns below which each claim becomes a block of lines."""
_PLACE = 7
_SHARES = {"claim": 24, "published": 16, "measured here": 26, "conditions": 24}
"""Columns of a place and of each text in the narrowest table; texts of wider ones are divided alike."""


def letters(classes: Iterable[ClaimClass]) -> str:
    """Return classes as tables have them."""
    return "/".join(each.letter for each in classes)


def measured_text(found: CheckedClaim) -> str:
    """Return what is in the column of what was measured."""
    if found.measured is None:
        return f"{found.verdict}: {found.reason}"
    if found.verdict is ClaimVerdict.UNCOMPARED:
        return f"{found.verdict}: {found.measured.text}"
    parts = []
    if found.differing:
        parts.append(f"DIFFERS in {', '.join(found.differing)}")
    if found.contradicted:
        parts.append(f"contradicted in {', '.join(map(_instead, found.contradicted))}")
    known = {*found.differing, *(row.item for row in found.contradicted)}
    same = [row.item for row in found.rows if row.item not in known]
    for what, names in _kinds(found, same):
        parts += [f"{what} in {', '.join(names)}"] if names else []
    parts += [_of_span(found, name) for name in found.judged if name not in found.differing]
    if found.claim.missed and found.verdict is ClaimVerdict.MISSED:
        parts.append(f"reason: {found.claim.missed}")
    return f"{'; '.join(parts).replace('_', ' ')}: {found.measured.text}"


def _kinds(found: CheckedClaim, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield figures that are as printed: those that were executed, and those that were read back."""
    read = found.claim.constants
    yield "reproduced", [name for name in names if name not in read]
    yield "constant", [name for name in names if name in read]


def _of_span(found: CheckedClaim, name: str) -> str:
    """Return how often a span is kept over all scenes, and the least and greatest figure."""
    assert found.measured is not None  # as it is judged
    values, wrong = found.measured.spread[name], sum(span == name for span, _ in found.outside)
    most, least = figure_text(max(values.values())), figure_text(min(values.values()))
    span = most if most == least else f"{least} to {most}"
    if wrong:
        return f"NOT in range in {name} ({span}; {len(values) - wrong} of {len(values)} are)"
    return f"in range in {name} ({span}{', all' if len(values) > 1 else ''})"


def _instead(row: Row) -> str:
    return f"{row.item} (printed {figure_text(row.published)}, here {figure_text(row.measured)})"


def sentence_parts(findings: Sequence[CheckedClaim], width: int) -> Iterator[Part]:
    """Yield findings as a table, or as blocks of lines on a narrow screen."""
    if width < _TABLE_WIDTH:
        yield from _blocks(findings)
        return
    spare = width - _TABLE_WIDTH
    place = min(_PLACE + spare, max(_PLACE, *(len(found.claim.place) for found in findings)))
    texts = sum(_SHARES.values()) + spare - (place - _PLACE)
    columns = [
        Column("where", least=place),
        Column("", fixed=True),
        *(Column(name, least=texts * share // sum(_SHARES.values())) for name, share in _SHARES.items()),
    ]
    claims = ((found.claim, measured_text(found)) for found in findings)
    yield Table(
        columns,
        [(c.place, letters(c.classes), c.title, c.published, text, c.conditions) for c, text in claims],
    )


def _blocks(findings: Sequence[CheckedClaim]) -> Iterator[Part]:
    for found in findings:
        claim = found.claim
        yield f"{claim.place} ({letters(claim.classes)}) {claim.name}: {claim.title}"
        yield Fact(claim.published, "  published", hang=14)
        yield Fact(measured_text(found), "  measured", hang=14)
        yield Fact(claim.conditions, "  conditions", hang=14)
        yield ""


def sentence_data(verified: Verified) -> dict[str, Json]:
    """Return claims and measurements for JSON; unknown values are null."""
    return {
        "claims": [_object(found) for found in verified.findings],
        "classes": {each.value: count for each, count in verified.classes.items()},
        "summary": {
            "claims": len(verified.findings),
            "measured": sum(found.measured is not None for found in verified.findings),
            "outcomes": {each.value: verified.outcomes[each] for each in ClaimVerdict},
        },
        "closing": verified.paper.closing,
    }


def _end(value: Number) -> Number | None:
    """Return an end of a span, None where it is unbounded."""
    return value if math.isfinite(value) else None


def _object(found: CheckedClaim) -> dict[str, Json]:
    claim, measured = found.claim, found.measured
    return {
        "name": claim.name,
        "where": claim.place,
        "claim": claim.title,
        "classes": [each.value for each in claim.classes],
        "published": {"text": claim.published, "values": dict(claim.values)},
        "measured": None if measured is None else {"text": measured.text, "values": dict(measured.figures)},
        "expected": dict(claim.expected),
        "constants": [row.item for row in found.rows if row.item in claim.constants],
        "spans": {
            name: {
                "least": _end(claim.spans[name].least),
                "most": _end(claim.spans[name].most),
                "found": {} if measured is None else dict(measured.spread[name]),
                "outside": [each for span, each in found.outside if span == name],
            }
            for name in found.judged
        },
        "missed": claim.missed or None,
        "compared": [row.item for row in found.rows],
        "instead": {
            name: {"value": each.value, "expression": each.expression, "names": dict(each.names)}
            for name, each in claim.instead.items()
        },
        "outcome": found.verdict,
        "reason": found.reason or None,
        "conditions": claim.conditions,
        "note": " ".join(note.text for note in claim.notes) or None,
    }
