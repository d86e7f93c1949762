"""Reports as data: facts, tables and plain text, with the keys under which JSON holds them.

A report is made once, next to its subject; text, JSON, Markdown, HTML and a notebook are renderings of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, TypeAlias

from pixelflow.simd.errors import printable

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Everything that JSON holds."""


class Column(NamedTuple):
    """One column of a table: its heading, how a cell becomes text, and its name in JSON.

    ``kind`` turns a cell into text. A column of any other kind than `str` holds numbers: set to the right, never
    wrapped. ``fixed`` keeps a text column on one line too; any other needs ``least`` columns of the screen, or what its
    longest cell takes. Without a ``key`` it is not in JSON, with ``label`` None it is only there.
    """

    label: str | None
    kind: Callable[..., str] = str
    key: str = ""
    unit: str = ""
    fixed: bool = False
    optional: bool = False
    """True if text leaves it out where the table would not fit with it and fits without; of several the last first."""
    least: int = 12
    style: str = ""
    """Name of a rich style, for text in colour."""
    accent: str = ""
    """A sign: only cells that have it are in the style, and in the accent colour of a page."""
    bars: bool = False
    """True if a page shows its numbers as bars too, none below 0: the longest is the greatest of them."""

    @property
    def heading(self) -> str:
        """The label with its unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label or ""

    @property
    def numbers(self) -> bool:
        """True if its cells are numbers."""
        return self.kind is not str


class Table(NamedTuple):
    """Rows of values under columns, and rows of sums (``foot``) that only people need.

    JSON holds it under ``key`` as a list of objects; with the key of a column as ``named``, as an object whose members
    have their names from there: the value of the other column where there is one, else an object.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Json]]
    title: str = ""
    key: str = ""
    named: str = ""
    foot: Sequence[Sequence[Json]] = ()


class Fact(NamedTuple):
    """A line of text; with a label, the text follows it and begins at column ``hang``.

    A label of no characters continues with the fact before. ``wrap`` divides what is wider than the screen. Under
    ``key`` JSON holds ``value``; a line without text is only there.
    """

    text: str | None
    label: str | None = None
    key: str = ""
    value: Json = None
    wrap: bool = True
    hang: int = 20
    in_colour: str = ""
    """The same lines as rich has drawn them in colours, for a terminal that shows these."""


class Heading(NamedTuple):
    """The title of a section: what follows up to the next one. A page lists those of a long report at its top."""

    text: str


Part: TypeAlias = str | Fact | Heading | Table
"""A part of a report; a plain text is a paragraph that is wrapped, an empty one a blank line, and one of
several lines is shown as it is."""


class Illustration(Protocol):
    """Drawings of a page and a notebook, in addition to the parts of a report."""

    def html(self) -> str:
        """Return it as a piece of a page; nothing where it cannot be drawn."""
        ...


class Topic(NamedTuple):
    """A section that explains: folded in a page, and in text only where it is asked for by its name."""

    name: str
    title: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Report:
    """Statement of a command, a run or an object: a title with its subject, then parts in their order.

    Keys of JSON are dotted: ``result.cycles`` is a member of the object ``result``.
    """

    title: str = ""
    subject: Sequence[str] = ()
    """Its subject, next to the title: a file, a configuration, an engine."""
    parts: Sequence[Part] = ()
    """Remarks about the work."""
    results: Sequence[Part] = ()
    """The requested answer: all that is left where no report is wanted."""
    brief: Sequence[Part] = ()
    """The answer on one screen: what text shows in place of title and parts where the whole account is not asked for.

    It says nothing that the parts do not say, except for how many rows of a table are joined into one.
    """
    schema: str = ""
    """Name and version of its JSON."""
    data: Mapping[str, Json] = field(default_factory=dict)
    """Additional members of JSON."""
    notes: Sequence[str] = ()
    """Remarks on the work; not part of JSON."""
    figures: Sequence[Illustration] = ()
    """Drawings where there is room for pictures: in a page and in a notebook."""
    failure: str | None = None
    """Unmet expectation; empty where the parts say it already."""
    topics: Sequence[Topic] = ()
    """Sections that explain the results; pages and Markdown have all of them."""
    asked: Sequence[str] = ()
    """Names of the topics that text has too."""

    @property
    def all_parts(self) -> tuple[Part, ...]:
        """The title as a paragraph, the parts, the results, and the topics that were asked for."""
        head = (" · ".join((self.title, *self.subject)),) if self.title else ()
        topics = [each for each in self.topics if each.name in self.asked]
        explained = (part for each in topics for part in ("", Heading(each.title), *each.parts))
        return (*head, *self.parts, *self.results, *explained)

    @property
    def brief_parts(self) -> tuple[Part, ...]:
        """The brief and the results; all parts of a report without a brief."""
        return (*self.brief, *self.results) if self.brief else self.all_parts

    def with_parts(self, more: Sequence[Part], **data: Json) -> Report:
        """Return the report with ``more`` parts, shown in the brief too, and their ``data``."""
        brief = [*self.brief, *more] if self.brief else ()
        return replace(self, parts=[*self.parts, *more], brief=brief, data={**self.data, **data})


# Figures as text: counts, shares, spreads and times, the same in every report.


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
    """Return names as prose has them: ``a``, ``a and b``, ``a, b and c``; ``last`` is before the last one."""
    return f" {last} ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def share(part: int | float, whole: int | float) -> str:
    """Return a part of a whole in per cent; a dash where there is no whole."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def percent(value: float | None) -> str:
    """Return a share in per cent, small ones with two digits, a dash for what is not known."""
    return "-" if value is None else f"{100 * value:.2g} %" if value < 0.01 else f"{100 * value:.1f} %"


def fixed(digits: int, scale: float = 1.0) -> Callable[[float], str]:
    """Return a formatter of numbers times ``scale`` with this many decimals."""
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


def largest(values: Mapping[str, int] | Iterable[tuple[str, int]], most: int) -> list[tuple[str, int]]:
    """Return the ``most`` largest amounts in their order, then the sum of the others as one.

    What is less than a thousandth of the whole is among the others, unless there is no second one of these.
    """
    rows = [row for row in (values.items() if isinstance(values, Mapping) else values) if row[1]]
    least = sum(value for _, value in rows) / 1000
    order = sorted(range(len(rows)), key=lambda at: -rows[at][1])
    kept = {at for at in order[:most] if rows[at][1] >= least}
    left = [value for at, (_, value) in enumerate(rows) if at not in kept]
    if len(left) < 2:
        return rows
    return [*(rows[at] for at in sorted(kept)), (f"{len(left)} others", sum(left))]


def verbatim(figure: str) -> str:
    """Return a figure that is a text already; the kind of columns whose cells are made by hand."""
    return figure


def plain_table(heads: Sequence[str], rows: Sequence[Sequence[Json]], key: str = "") -> Table:
    """Return a table whose columns of whole numbers are set to the right; ``key`` is its name."""
    numeric = [all(isinstance(row[at], int) for row in rows) for at in range(len(heads))]
    return Table([Column(head, number if n else str) for head, n in zip(heads, numeric, strict=True)], rows, key=key)


def overview(
    title: str,
    pairs: Iterable[tuple[str, str]],
    tables: Iterable[Table] = (),
    drawing: Sequence[str] = (),
    figures: Sequence[Illustration] = (),
) -> Report:
    """Return an object's own description: facts, those of the tables that have rows, lines of characters, figures."""
    parts: list[Part] = [*facts(pairs)]
    for table in tables:
        parts += ["", table] if table.rows else []
    return Report(title, parts=[*parts, *(["", "\n".join(drawing)] if drawing else [])], figures=figures)
