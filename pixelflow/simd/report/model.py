"""Reports as data: facts, tables and plain text, with the keys under which JSON holds them.

A report is made once, beside what it is about; text, JSON, Markdown, HTML and a notebook are renderings of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

__all__ = ["Column", "Fact", "Heading", "Illustration", "Json", "Part", "Report", "Table"]

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Everything that JSON holds."""


@dataclass(frozen=True, slots=True)
class Column:
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
    """Whether text leaves it out where the table would not fit with it and fits without; of several the last first."""
    least: int = 12
    style: str = ""
    """Name of a rich style, for text in colour."""
    bars: bool = False
    """Whether a page shows its numbers as bars too, none below 0: the longest is the greatest of them."""

    @property
    def heading(self) -> str:
        """The label with its unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label or ""

    @property
    def numbers(self) -> bool:
        """Whether its cells are numbers."""
        return self.kind is not str


@dataclass(frozen=True, slots=True)
class Table:
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


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of text; with a label, the text beside it, which begins at column ``hang``.

    A label of no characters goes on with the fact before. ``wrap`` divides what is wider than the screen. Under ``key``
    JSON holds ``value``; a line without text is only there.
    """

    text: str | None
    label: str | None = None
    key: str = ""
    value: Json = None
    wrap: bool = True
    hang: int = 20
    in_colour: str = ""
    """The same lines as rich has drawn them in colours, for a terminal that shows these."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a section: what follows up to the next one. A page lists those of a long report at its top."""

    text: str


Part: TypeAlias = str | Fact | Heading | Table
"""A part of a report; a plain text is a paragraph that is wrapped, an empty one a blank line, and one of
several lines is shown as it is."""


class Illustration(Protocol):
    """What a page and a notebook draw beside the parts of a report."""

    def html(self) -> str:
        """Return it as a piece of a page; nothing where it cannot be drawn."""
        ...


@dataclass(frozen=True, slots=True)
class Report:
    """What a command, a run or an object says: a title with its subject, then parts in their order.

    Keys of JSON are dotted: ``result.cycles`` is a member of the object ``result``.
    """

    title: str = ""
    subject: Sequence[str] = ()
    """What it is about, to stand beside the title: a file, a configuration, an engine."""
    parts: Sequence[Part] = ()
    """What is told about the work."""
    results: Sequence[Part] = ()
    """What was asked for: what is left where somebody wants no report."""
    schema: str = ""
    """Name and version of its JSON."""
    data: Mapping[str, Json] = field(default_factory=dict)
    """What JSON holds besides."""
    notes: Sequence[str] = ()
    """Remarks on the work; not part of JSON."""
    figures: Sequence[Illustration] = ()
    """What is drawn of it where there is room for pictures: in a page and in a notebook."""
    failure: str | None = None
    """What was expected and is not so; empty where the parts say it already."""

    @property
    def all_parts(self) -> tuple[Part, ...]:
        """The title as a paragraph, the parts and the results."""
        head = (" · ".join((self.title, *self.subject)),) if self.title else ()
        return (*head, *self.parts, *self.results)
