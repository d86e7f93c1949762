"""Tables of rows: how a paper's figures stand beside what was measured, for people and in JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from pixelflow.evidence.claim import CheckedClaim, Claim, ClaimClass, ClaimVerdict, Row, RowVerdict
from pixelflow.evidence.derivation import Derivation, Number, figure_text
from pixelflow.evidence.paper import Verified
from pixelflow.simd.report import Column, Fact, Json, Part, Table, table_object

_ROWS_OF_A_UNIT = 3
"""Where units have fewer rows on the average, they stand with each row and not in a heading."""


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


def table_parts(found: CheckedClaim) -> Iterator[Part]:
    """Yield a finding as one table, or one for each unit, what decides its figures, what predicts them, and results."""
    claim, rows = found.claim, found.rows
    title = f"{claim.name.capitalize()}: {claim.title} ({claim.place})"
    units = [(unit, list(part)) for unit, part in groupby(rows, key=lambda row: row.unit)]
    if not rows:
        yield f"{title}: {found.reason}"
    elif len(units) == 1 or len(units) * _ROWS_OF_A_UNIT <= len(rows):
        for index, (unit, part) in enumerate(units):
            if index:
                yield ""
                title = claim.name.capitalize()
            yield _table(part, f"{title}, {unit}", one_unit=True)
    else:
        yield _table(rows, title, one_unit=False)
    for basis in dict.fromkeys(row.basis for row in rows):
        yield f"  {basis.standing}: {basis.text}"
    if digits := digits_text(claim, rows):
        yield f"  few digits: {digits}"
    yield from derivation_lines(rows)
    if found.measured is not None and found.measured.text:
        yield f"  {found.measured.text}"
    if claim.notes:
        yield f"  see also: {', '.join(note.name for note in claim.notes)}"
    if found.checks:
        yield ""
        yield checks_table(found, f"{claim.name.capitalize()}, results")


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
        told: set[str] = set()
        for row in rows:
            derivation: Derivation | None = getattr(row, name)
            if derivation is not None and derivation.expression not in shown:
                shown.add(derivation.expression)
                yield f"  {what}, {row.item}: {derivation.shown} = {figure_text(derivation.value)}"
                for line in derivation.full[1:]:
                    if line not in told:
                        told.add(line)
                        yield f"    {line}"


def checks_table(found: CheckedClaim, title: str = "") -> Table:
    """Return the results of a finding beside what they may be."""
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

    Of rows without a published figure it tells those that are predicted from those that nothing is compared with.
    """
    if row.verdict is RowVerdict.UNPUBLISHED:
        return "not compared" if row.alone else "as predicted"
    if row.verdict in (RowVerdict.EQUAL, RowVerdict.UNCHECKED):
        return ""
    return row.verdict.upper() if row.verdict is RowVerdict.OFF else row.verdict


def _table(rows: Sequence[Row], title: str = "", *, one_unit: bool) -> Table:
    """Return rows as people and JSON have them; deviations in percent only where there is room."""
    names = [[note.name for note in row.notes] for row in rows]
    verdicts = [" ".join(filter(None, (verdict_text(row), *own))) for row, own in zip(rows, names, strict=True)]
    busy = (Column("busy", figure_text, "busy"),) if any(row.busy is not None for row in rows) else ()
    columns = (
        Column("row", least=10),
        Column("published", figure_text, "published"),
        Column("formula", figure_text, "formula"),
        Column("measured", figure_text, "measured"),
        *(busy or (Column(None, key="busy"),)),
        Column("deviation", deviation_text, "deviation"),
        Column("%", percent_text, "deviation_percent", optional=True),
        Column("standing", key="standing", fixed=True, optional=bool(busy)),
        Column("verdict", least=max(len(name) for text in ("verdict", *verdicts) for name in text.split() or ("",))),
        *(Column(None, key=key) for key in _HIDDEN),
    )
    cells = [
        (
            row.item if one_unit or row.unit in row.item else f"{row.item}, {row.unit}",
            row.published, row.formula, row.measured, row.busy, row.deviation, row.percent, str(row.basis.standing),
            text, row.item, row.unit, row.step or None, row.basis.text, row.verdict, own, row.detail or None,
            _derivation(row.predicted), _derivation(row.derived),
        )
        for row, text, own in zip(rows, verdicts, names, strict=True)
    ]  # fmt: skip
    return Table(columns, cells, title)


_HIDDEN = ("item", "unit", "printed_step", "basis", "outcome", "notes", "detail", "predicted", "derived")
"""What only JSON has of a row, besides the columns."""


def _derivation(found: Derivation | None) -> Json:
    if found is None:
        return None
    return {"value": found.value, "expression": found.expression, "names": dict(found.names)}


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
        "notes": {
            note.name: {
                "section": note.section,
                "reason": note.reason,
                "text": note.text,
                "places": [{"section": place.section, "quote": place.quote} for place in note.places],
                "other_readings": list(note.readings),
            }
            for note in verified.notes
        },
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


# Sentences: how a paper's claims in words stand beside what was measured, for people and in JSON.


_TABLE_WIDTH = 110
"""Columns below which each claim becomes a block of lines."""
_PLACE = 7
_SHARES = {"claim": 24, "published": 16, "measured here": 26, "conditions": 24}
"""Columns of a place and of each text in the narrowest table; texts of wider ones are divided alike."""


def letters(classes: Iterable[ClaimClass]) -> str:
    """Return classes as tables have them."""
    return "/".join(each.letter for each in classes)


def measured_text(found: CheckedClaim) -> str:
    """Return what stands in the column of what was measured."""
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
    """Return how often a span is kept, over everything that was looked at, and from what to what it goes."""
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
    """Return the claims beside what was measured for JSON; what is not known is null."""
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
    """Return an end of a span, None where it has none."""
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
