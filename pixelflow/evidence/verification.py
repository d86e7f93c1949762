"""Report of a verification: tables of rows or sentences with measurements, notes, a summary, and failures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from pixelflow.evidence.claim import CheckedClaim, Claim, ClaimClass, Row, RowVerdict
from pixelflow.evidence.derivation import figure_text, same
from pixelflow.evidence.paper import Verified
from pixelflow.evidence.rows import (
    digits_text,
    explanation,
    notes_table,
    page_table,
    printed_table,
    reason_lines,
    sentence_data,
    sentence_parts,
    table_data,
    table_parts,
    unplaced,
    verdict_text,
)
from pixelflow.simd.report import Column, Curves, Heading, Part, Report, Table, counted, listed, verbatim

_MOST_NAMED = 20


def evidence_report(
    verified: Verified, width: int, *, quiet: bool = False, strict: bool = False, full: bool = False,
    explain: bool = False,
) -> Report:  # fmt: skip
    """Return the report for a screen of ``width`` columns.

    It fails where a row is off or a result wrong, or with ``strict`` where any figure is not as published. Text is the
    answer with a line or two for each table, a few claims are shown as they are printed; with ``explain`` it is what
    decides and predicts the figures, with ``full`` that and all rows, as in pages. ``quiet`` leaves of sentences these
    alone; tables are not a result that is asked for.
    """
    paper = verified.paper
    failure = _failure(verified, strict=strict)
    if paper.in_words:
        shown = tuple(sentence_parts(verified.findings, width))
        head = (f"Claims of {paper.title}, in our words. {_LEGEND}.", "")
        results = shown if quiet else (*head, *shown, "", *_of_sentences(verified))
        return Report(
            results=results, schema=f"pixelflow.{paper.name}-claims/2", data=sentence_data(verified), failure=failure
        )
    answer, counts = _answer(verified), summary(verified)
    whole: list[Part] = [answer]
    few = len(verified.findings) <= _FEW
    pages: list[Part] = [answer, *(() if few else ("", _overview(verified)))]
    for found in verified.findings:
        own = [Heading(_title(found)), *table_parts(found), ""]
        whole += ["", *own]
        pages += [own[0], *([page_table(found)] if found.claim.layout else []), *own[1:]]
    rest = [*_rest(verified), "", counts]
    brief: list[Part] = [answer, "", *(_each(verified) if few else [_overview(verified)])]
    if full:
        brief = [*whole, *rest]
    elif explain:
        reasons = (part for found in verified.findings for part in ("", _title(found), *explanation(found)))
        brief = [answer, *reasons, *rest]
    else:
        brief += ["", *([counts] if counts else []), _MORE if few else _MORE_OF_ALL]
    return Report(
        f"pixelflow verify: {paper.title}",
        (f"machine {paper.sha256[:12]}",) if paper.sha256 else (),
        [*pages, *rest],
        brief=brief,
        schema="pixelflow.verify/2",
        data=table_data(verified),
        failure=failure,
        figures=tuple(_curves(verified)),
    )


_LEGEND = "R reproducible, M mechanical, P by proxy, N not reproducible"
_FEW = 4
"""Claims up to which each is shown as it is printed."""
_MORE = "More: --explain has what predicts the figures, --full every row."
_MORE_OF_ALL = (
    "More: verify table7 shows one table as printed, --explain what predicts the figures, --full every row, "
    "--html FILE a page with the curves."
)


def _title(found: CheckedClaim) -> str:
    claim = found.claim
    return f"{claim.name.capitalize()}: {claim.title} ({claim.place})"


def _each(verified: Verified) -> Iterator[Part]:
    """Yield findings as they are printed, with what has no place in the tables, and why figures differ."""
    for at, found in enumerate(verified.findings):
        yield from [""] * bool(at)
        if found.rows or found.claim.layout:
            few = digits_text(found.claim, found.rows)
            both = f" (printed{f', {few}' if few else ''} / here)" if found.rows and found.claim.layout else ""
            yield printed_table(found, f"{found.claim.name.capitalize()}{both}: {found.claim.title}")
        else:
            yield f"{_title(found)}: {found.reason}"
        if also := "; ".join(unplaced(found)):
            yield f"also compared: {also}"
        yield from reason_lines(found)
        if found.measured is not None and found.measured.text:
            yield found.measured.text


def _overview(verified: Verified) -> Table:
    """Return how each claim came out: figures met, the worst of the others, what it is, and the names of reasons."""
    cells, idle = [], []
    for found in verified.findings:
        rows = [row for row in found.rows if row.published is not None]
        others = [row for row in rows if not row.met]
        if found.rows and not rows:
            idle.append(found.claim.name)
            continue
        kinds = Counter(verdict_text(row) or row.verdict for row in others)
        text = ", ".join(counted(count, kind) if kind in _NOUNS else f"{count} {kind}" for kind, count in kinds.items())
        names = list(dict.fromkeys(note.name for row in others for note in row.notes))
        named = f" ({', '.join(names[:_NAMED])}{' ...' * (len(names) > _NAMED)})" if names else ""
        worst = _worst(others)
        cells.append(
            (
                found.claim.name,
                f"{len(rows) - len(others)} of {len(rows)}" if rows else "",
                "" if worst is None else f"{worst:+.2f} %",
                found.claim.title + (f": {text}{named}" if others else "" if rows else ": no figures"),
            )
        )  # fmt: skip
    if idle:
        cells.append(("others", "", "", f"without a printed figure: {listed(idle)}"))
    columns = (
        Column("", fixed=True),
        Column("met", verbatim),
        Column("worst", verbatim, style="cyan"),
        Column("what it is, and why figures differ", least=30),
    )
    return Table(columns, cells)


_NOUNS = (RowVerdict.READING, RowVerdict.CONTRADICTION)
_NAMED = 2
"""Notes of a claim that the overview names."""


def _worst(rows: Iterable[Row]) -> float | None:
    """Return the deviation in per cent that is the farthest from 0."""
    return max((row.percent for row in rows if row.percent is not None), key=abs, default=None)


def _answer(verified: Verified) -> str:
    """Return in a sentence how many printed figures are met, how far the others are off, and for which reasons."""
    printed = [row for _, row in verified.rows if row.published is not None]
    others = [row for row in printed if not row.met]
    met = len(printed) - len(others)
    if not printed:
        measured = f"; {verified.measured} are measured" * bool(verified.measured)
        return f"Nothing to compare: the {verified.paper.name} prints no figure here{measured}."
    rules = [row.digits for row in printed if row.met and row.found != row.published]
    few = f" ({len(rules)} of them {' or '.join(sorted(set(rules)))})" if rules else ""
    to_digit = f"met to the {'last printed ' if rules else ''}digit{few}"
    if not others:
        return f"All {counted(met, 'printed figure')} are {to_digit}."
    parts = [f"{met} {'is' if met == 1 else 'are'} {to_digit}"] if met else []
    for kinds, one, many in (
        ((RowVerdict.PREDICTED, RowVerdict.READING), "differs by", "differ by at most"),
        ((RowVerdict.CONTRADICTION,), "contradicts", "contradict"),
        ((RowVerdict.UNEXPLAINED,), "is unexplained", "are unexplained"),
        ((RowVerdict.OFF,), "is neither as printed nor as predicted", "are neither as printed nor as predicted"),
        ((RowVerdict.UNCHECKED,), "is not checked", "are not checked"),
    ):
        rows = [row for row in others if row.verdict in kinds]
        if not rows:
            continue
        text, worst = f"{len(rows)} {one if len(rows) == 1 else many}", _worst(rows)
        if kinds[0] is RowVerdict.PREDICTED:
            expressions = {row.predicted.expression for row in rows if row.predicted is not None}
            text += (
                f" {abs(worst or 0):.2g} % for reasons computed beforehand ({counted(len(expressions), 'expression')})"
            )
        elif kinds[0] is RowVerdict.CONTRADICTION:
            text += f" another place of the {verified.paper.name}"
        elif worst is not None and kinds[0] is RowVerdict.UNEXPLAINED:
            text += f" (worst {abs(worst):.2g} %)"
        parts.append(text)
    return f"Of {counted(len(printed), 'printed figure')} {', '.join(parts)}."


def _curves(verified: Verified) -> Iterator[Curves]:
    """Yield curves of those tables that have some: rows that differ in a number N of their names are the points."""
    for found in verified.findings:
        if found.claim.name not in verified.paper.curves:
            continue
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in found.rows:
            size = re.search(r"\d+", row.item)
            if size is not None and row.unit == "cycles":
                name = re.sub(rf"(?<!\d){size[0]}(?!\d)", "N", row.item)
                for kind, figure in (("measured", row.measured), ("published", row.published)):
                    if figure is not None:
                        lines.setdefault(f"{name}, {kind}", []).append((int(size[0]), float(figure)))
        drawn = [(name, sorted(line)) for name, line in lines.items() if len(line) > 2]
        if drawn:
            rings = frozenset(name for name, _ in drawn if name.endswith("published"))
            yield Curves(f"{found.claim.name}: {found.claim.title}", "N", "cycles", drawn, rings)


def _rest(verified: Verified) -> Iterator[Part]:
    """Yield what holds of all that was executed, the notes, and what has no figures."""
    for remark in verified.remarks:
        yield from ("", remark.text) if remark.text else ()
    if verified.notes:
        yield from ("", notes_table(verified))
    without = verified.paper.without.items() if verified.complete else ()
    if without:
        columns = (Column("without figures", fixed=True), Column("reason"))
        yield from ("", Table(columns, list(without), "Without figures"))


def summary(verified: Verified) -> str:
    """Return how many rows came out how, kinds that do not occur left out."""
    verdicts = verified.verdicts
    unpublished, alone = verdicts[RowVerdict.UNPUBLISHED], verified.compared_with_nothing
    of_equal = _listed((verified.fitted, "fitted"), (verified.few_digits, "in few digits"))
    contradictions = "contradiction" + "s" * (verdicts[RowVerdict.CONTRADICTION] != 1)
    rows = _listed(
        (verdicts[RowVerdict.EQUAL], "equal" + f" ({of_equal})" * bool(of_equal)),
        (verdicts[RowVerdict.PREDICTED], "predicted"),
        (verdicts[RowVerdict.READING], "read in one of several ways"),
        (verdicts[RowVerdict.CONTRADICTION], f"{contradictions} of the print"),
        (verdicts[RowVerdict.UNEXPLAINED], "unexplained"),
        (verdicts[RowVerdict.UNCHECKED], "unchecked"),
        (verdicts[RowVerdict.OFF], "off"),
    )
    only = _listed((unpublished - alone, "predicted"), (alone, "not compared"))
    text = "; ".join(filter(None, (rows, f"without a printed figure {only}" * bool(only))))
    checks = sum(1 for _ in verified.checks)
    results = f"{counted(checks, 'result')} computed, {len(verified.wrong)} wrong" if checks else "no results computed"
    executed = _listed((verified.measured, "measured"), (verified.formula_only, "by formula alone"))
    return f"{counted(sum(verdicts.values()), 'row')}: {text}. {executed}; {results}." if text else ""


def _listed(*counts: tuple[int, str]) -> str:
    """Return counts with what they count, those of zero left out."""
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _of_sentences(verified: Verified) -> tuple[str, str]:
    classes, findings = verified.classes, verified.findings
    parts = ", ".join(f"{classes[each]} {each.value}" for each in ClaimClass if classes[each])
    two = sum(len(found.claim.classes) > 1 for found in findings)
    text = f"{counted(len(findings), 'claim')}: {parts}" + (f" ({two} of two classes)" if two else "")
    text += "; " + ", ".join(f"{count} {kind}" for kind, count in verified.kinds.items())
    return f"{text}.", verified.paper.closing


def _failure(verified: Verified, *, strict: bool) -> str | None:
    """Return what names the rows or sentences that fail, None where none does."""
    if verified.paper.in_words:
        wrong = verified.failing(strict=strict)
        return f"figures that must be the same are others here: {', '.join(wrong)}" if wrong else None
    named = [
        f"    {claim.name}: {check.item}: {figure_text(check.found)} {check.unit}, allowed {figure_text(check.most)}"
        for claim, check in verified.wrong
    ]
    texts = ["\n".join([f"{counted(len(named), 'result')} wrong:", *_some(named)])] if named else []
    failures = verified.failures(strict=strict)
    if failures:
        reason = "and --strict excuses none" if strict else "neither as published nor as predicted"
        texts.append("\n".join([f"{counted(len(failures), 'row')} off, {reason}:", *_some(map(_named, failures))]))
    return "\n".join(texts) or None


def _named(failure: tuple[Claim, Row]) -> str:
    claim, row = failure
    predicted = None if row.predicted is None else row.predicted.value
    derived = None if row.derived is None else row.derived.value
    figures = {"published": row.published, "formula": row.formula, "measured": row.measured}
    if not same(predicted, row.measured):
        figures["predicted"] = predicted
    if not same(derived, row.formula):
        figures["derived"] = derived
    text = ", ".join(f"{name} {figure_text(value)}" for name, value in figures.items() if value is not None)
    return f"    {claim.name}: {row.item}: {text} {row.unit}"


def _some(named: Iterable[str]) -> list[str]:
    lines = list(named)
    return lines if len(lines) <= _MOST_NAMED else [*lines[:_MOST_NAMED], f"    and {len(lines) - _MOST_NAMED} more"]
