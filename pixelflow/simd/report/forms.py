"""Figures as text: counts, shares, spreads and times, the same in every report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pixelflow.simd.errors import printable
from pixelflow.simd.report.model import Column, Fact, Illustration, Json, Part, Report, Table

__all__ = [
    "counted",
    "cut",
    "facts",
    "fixed",
    "listed",
    "machine_time",
    "number",
    "overview",
    "percent",
    "plain_table",
    "plural",
    "printable",
    "ranged",
    "share",
    "shares",
    "six_digits",
    "spread",
    "verbatim",
]


def number(value: int | float | None) -> str:
    """Return a count with thousands separators, a fraction with four digits, and a dash for what is not known."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 word``, ``2 words``."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def plural(count: int, noun: str) -> str:
    """Return a count with a noun whose plural ends in ``es``: ``1 pass``, ``2 passes``."""
    return f"{count:,} {noun}{'es' * (count != 1)}"


def ranged(numbers: Iterable[int]) -> str:
    """Return whole numbers in order, those that follow each other as one: ``0-2,7``."""
    runs: list[list[int]] = []
    for each in sorted(set(numbers)):
        if runs and each == runs[-1][-1] + 1:
            runs[-1][1:] = [each]
        else:
            runs.append([each])
    return ",".join("-".join(map(str, run)) for run in runs)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names as prose has them: ``a``, ``a and b``, ``a, b and c``; ``last`` stands before the last one."""
    return f" {last} ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def share(part: int | float, whole: int | float) -> str:
    """Return a part of a whole in per cent; a dash where there is no whole."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def percent(value: float | None) -> str:
    """Return a share in per cent, small ones with two digits, a dash for what is not known."""
    return "-" if value is None else f"{100 * value:.2g} %" if value < 0.01 else f"{100 * value:.1f} %"


def fixed(digits: int, scale: float = 1.0) -> Callable[[float], str]:
    """Return what shows a number times ``scale`` with so many digits after the point."""
    return lambda value: f"{scale * value:,.{digits}f}"


def spread(digits: int, scale: float = 1.0) -> Callable[[Mapping[str, float]], str]:
    """Return what shows ``median``, ``min`` and ``max`` times ``scale``: ``2.1 [2.0..2.4]``."""
    form = "{:.%df} [{:.%df}..{:.%df}]" % (digits, digits, digits)  # noqa: UP031
    return lambda values: form.format(*(scale * values[name] for name in ("median", "min", "max")))


def six_digits(value: float) -> str:
    """Return a number with six digits."""
    return f"{value:.6g}"


def machine_time(seconds: float) -> str:
    """Return a time with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:,.4g} {unit}"
    return f"{seconds * 1e9:,.4g} ns"


def cut(text: str, width: int) -> str:
    """Return a text as one line of at most ``width`` characters."""
    text = printable(text.expandtabs(4)).replace("\n", "\\x0a").rstrip()
    return text if len(text) <= width else text[: width - 1] + "…"


def facts(pairs: Iterable[tuple[str, str]], *, wrap: bool = True) -> list[Fact]:
    """Return labels with their texts as lines; pairs without a text are left out."""
    return [Fact(text, label, wrap=wrap) for label, text in pairs if text]


def shares(
    values: Mapping[str, int] | Iterable[tuple[str, int]],
    unit: str,
    what: str,
    *,
    total: int | None = None,
    foot: str = "",
    title: str = "",
) -> Table:
    """Return amounts with their share of ``total`` (None: of their sum); ``foot`` names a last row with the sum."""
    rows = list(values.items() if isinstance(values, Mapping) else values)
    whole = sum(value for _, value in rows) if total is None else total
    columns = (Column(unit, number, bars=True), Column("share", verbatim), Column(what))
    cells = [(value, share(value, whole), name) for name, value in rows]
    return Table(columns, cells, title, foot=[(whole, share(whole, whole), foot)] if foot else ())


def verbatim(figure: str) -> str:
    """Return a figure that is a text already; the kind of columns whose cells are made by hand."""
    return figure


def plain_table(heads: Sequence[str], rows: Sequence[Sequence[Json]], title: str = "", key: str = "") -> Table:
    """Return a table whose columns of whole numbers are set to the right; ``key`` is its name."""
    numeric = [all(isinstance(row[at], int) for row in rows) for at in range(len(heads))]
    return Table([Column(head, number if n else str) for head, n in zip(heads, numeric, strict=True)], rows, title, key)


def overview(
    title: str,
    pairs: Iterable[tuple[str, str]],
    tables: Iterable[Table] = (),
    drawing: Sequence[str] = (),
    figures: Sequence[Illustration] = (),
) -> Report:
    """Return what an object says of itself: facts, those of the tables that have rows, lines of characters, figures."""
    parts: list[Part] = [*facts(pairs)]
    for table in tables:
        parts += ["", table] if table.rows else []
    return Report(title, parts=[*parts, *(["", "\n".join(drawing)] if drawing else [])], figures=figures)
