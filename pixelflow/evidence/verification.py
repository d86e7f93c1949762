"""Report of a verification: rows in tables or sentences beside measures, notes, a summary, and what fails."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator

from pixelflow import __version__
from pixelflow.evidence.claim import Claim, ClaimClass, Note, Row, RowVerdict
from pixelflow.evidence.derivation import figure_text, same
from pixelflow.evidence.paper import Verified
from pixelflow.evidence.rows import (
    derivation_lines,
    deviation_text,
    digits_text,
    percent_text,
    sentence_data,
    sentence_parts,
    table_data,
    table_parts,
    verdict_text,
)
from pixelflow.simd.report import Curves, Part, Report, as_text, counted, html

_MOST_NAMED = 20


def evidence_report(verified: Verified, width: int, *, quiet: bool = False, strict: bool = False) -> Report:
    """Return the report for a screen of ``width`` columns.

    It fails where a row is off or a result wrong, or with ``strict`` where any figure is not as published. ``quiet``
    leaves of sentences these alone; tables are no result that somebody asks for.
    """
    paper = verified.paper
    failure = _failure(verified, strict=strict)
    if paper.in_words:
        shown = tuple(sentence_parts(verified.findings, width))
        results = shown if quiet else (*_head(verified), *shown, *_tail(verified))
        return Report(
            results=results, schema=f"pixelflow.{paper.name}-claims/2", data=sentence_data(verified), failure=failure
        )
    tables = (part for found in verified.findings for part in ("", *table_parts(found)))
    parts = (*_head(verified), *tables, *_tail(verified))
    curves = tuple(_curves(verified))
    return Report(parts=parts, schema="pixelflow.verify/2", data=table_data(verified), failure=failure, figures=curves)


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
            yield Curves(f"{found.claim.name}: {found.claim.title}", "N", "cycles", drawn)


def _head(verified: Verified) -> tuple[Part, ...]:
    paper = verified.paper
    if paper.in_words:
        legend = "R reproducible, M mechanical, P by proxy, N not reproducible"
        return (f"Claims of {paper.title}, in our words. {legend}.", "")
    return (f"pixelflow verify {__version__}: {paper.title}; machine {paper.sha256[:12]}",)


def _tail(verified: Verified) -> Iterator[Part]:
    paper = verified.paper
    for remark in verified.remarks:
        yield from ("", remark.text) if remark.text else ()
    if verified.notes:
        yield from ("", "notes")
    for note in verified.notes:
        yield f"  {note.name} ({note.reason}, {note.section}): {note.full}"
    if verified.complete and paper.without:
        yield from ("", "without figures", *(f"  {name}: {reason}" for name, reason in paper.without.items()))
    yield from ("", *summary(verified))


def summary(verified: Verified) -> tuple[str, ...]:
    """Return the last lines: how all of it came out, and what that says."""
    return _of_sentences(verified) if verified.paper.in_words else _of_rows(verified)


def _of_rows(verified: Verified) -> tuple[str, ...]:
    verdicts = verified.verdicts
    equal = (
        f"{verdicts[RowVerdict.EQUAL]} equal (of these {verified.fitted} fitted, {verified.few_digits} in few digits)"
    )
    named = (
        f"{verdicts[RowVerdict.PREDICTED]} predicted",
        counted(verdicts[RowVerdict.CONTRADICTION], "contradiction") + " of the print",
        counted(verdicts[RowVerdict.READING], "other reading"),
        f"{verdicts[RowVerdict.UNEXPLAINED]} unexplained",
        f"{verdicts[RowVerdict.OFF]} off",
    )
    text = ", ".join([f"{counted(sum(verdicts.values()), 'row')}: {equal}", *named])
    if verdicts[RowVerdict.UNCHECKED]:
        text += f", {verdicts[RowVerdict.UNCHECKED]} unchecked"
    if verdicts[RowVerdict.UNPUBLISHED]:
        alone = verified.compared_with_nothing
        predicted = verdicts[RowVerdict.UNPUBLISHED] - alone
        text += f", without a published figure {predicted} predicted and {alone} compared with nothing"
    checks = sum(1 for _ in verified.checks)
    results = f"{counted(checks, 'result')} computed, {len(verified.wrong)} wrong" if checks else "no results computed"
    return text, f"{verified.measured} measured, {verified.formula_only} by formula alone; {results}"


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


# Documents: a verification as Markdown and as a picture of its report.


_PICTURE_WIDTH = 110


def markdown(verified: Verified) -> str:
    """Return the report as Markdown: every column of every table, and the notes as targets of links."""
    if verified.paper.in_words:
        return html.markdown(evidence_report(verified, _PICTURE_WIDTH))
    return "\n".join(_markdown(verified)) + "\n"


def _markdown(verified: Verified) -> Iterator[str]:
    paper = verified.paper
    yield f"# pixelflow verify {__version__}\n"
    yield f"{paper.title}; machine `{paper.sha256}`.\n"
    yield from (f"{line}.\n" for line in (*summary(verified), *(each.text for each in verified.remarks if each.text)))
    for found in verified.findings:
        claim = found.claim
        yield f"## {claim.name.capitalize()}: {claim.title}\n"
        yield f"{paper.name.capitalize()}: {claim.place}.\n"
        yield "| row | unit | published | formula | measured | busy | deviation | % | standing | outcome | notes |"
        yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |"
        for row in found.rows:
            figures = [figure_text(value) for value in (row.published, row.formula, row.measured, row.busy)]
            notes = ", ".join(map(_link, row.notes)) + (f" ({row.detail})" if row.detail else "")
            cells = [_escaped(row.item), row.unit, *figures, deviation_text(row.deviation), percent_text(row.percent)]
            yield "| " + " | ".join([*cells, row.basis.standing, verdict_text(row) or row.verdict, notes]) + " |"
        yield ""
        for basis in dict.fromkeys(row.basis for row in found.rows):
            yield f"- *{basis.standing}*: {basis.text}"
        if digits := digits_text(claim, found.rows):
            yield f"- few digits: {digits}"
        yield from (f"- {_escaped(line.strip())}" for line in derivation_lines(found.rows))
        yield from (f"- see also {_link(note)}" for note in claim.notes)
        yield ""
        if found.checks:
            yield "| result | found | allowed | of | outcome | against |"
            yield "| --- | ---: | ---: | --- | --- | --- |"
            for each in found.checks:
                outcome = "held" if each.held else "WRONG"
                figures = [figure_text(each.found), figure_text(each.most)]
                yield "| " + " | ".join([_escaped(each.item), *figures, each.unit, outcome, each.by]) + " |"
            yield ""
    yield "## Notes\n"
    yield from (
        f'- <a id="{note.name}"></a>**{note.name}** ({note.reason}, {note.section}): {note.full}'
        for note in verified.notes
    )
    if verified.complete:
        yield "\n## Without figures\n"
        yield from (f"- {name}: {reason}" for name, reason in paper.without.items())


def _link(note: Note) -> str:
    return f"[{note.name}](#{note.name})"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def svg(verified: Verified) -> str:
    """Return a picture of the report; equal reports give equal text."""
    from rich.console import Console
    from rich.text import Text

    drawn = as_text(evidence_report(verified, _PICTURE_WIDTH).all_parts, _PICTURE_WIDTH, color=True)
    console = Console(record=True, width=_PICTURE_WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    console.print(Text.from_ansi(drawn.rstrip("\n")))
    return console.export_svg(title="pixelflow verify", unique_id="pixelflow-verify")
