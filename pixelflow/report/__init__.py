"""Reports as data, and what makes text, JSON, Markdown, HTML and notebook cells of them."""

from pixelflow.report.forms import (
    counted,
    cut,
    facts,
    fixed,
    machine_time,
    number,
    overview,
    percent,
    plain_table,
    plural,
    printable,
    share,
    shares,
    spread,
    verbatim,
)
from pixelflow.report.model import Column, Json, Line, Part, Report, Table
from pixelflow.report.notebook import Shown

__all__ = [
    "Column",
    "Json",
    "Line",
    "Part",
    "Report",
    "Shown",
    "Table",
    "counted",
    "cut",
    "facts",
    "fixed",
    "machine_time",
    "number",
    "overview",
    "percent",
    "plain_table",
    "plural",
    "printable",
    "share",
    "shares",
    "spread",
    "verbatim",
]
