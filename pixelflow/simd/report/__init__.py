"""Reports as data, and what makes text, JSON, Markdown, HTML and notebook cells of them."""

from typing import TYPE_CHECKING

from pixelflow.simd.errors import printable
from pixelflow.simd.faces import on_first_use
from pixelflow.simd.report.model import (
    Column,
    Fact,
    Heading,
    Illustration,
    Json,
    Part,
    Report,
    Table,
    Topic,
    counted,
    cut,
    facts,
    fixed,
    largest,
    listed,
    machine_time,
    number,
    overview,
    percent,
    plain_table,
    plural,
    ranged,
    share,
    shares,
    six_digits,
    spread,
    verbatim,
)
from pixelflow.simd.report.notebook import RasterImage, Shown, ShownTable

if TYPE_CHECKING:
    from pixelflow.simd.report.charts import Curves, Made, Timeline, TimeSpan
    from pixelflow.simd.report.html import json_text, report_object, table_object
    from pixelflow.simd.report.text import as_text, drawn

__all__ = [
    "Column",
    "Curves",
    "Fact",
    "Heading",
    "Illustration",
    "Json",
    "Made",
    "Part",
    "RasterImage",
    "Report",
    "Shown",
    "ShownTable",
    "Table",
    "TimeSpan",
    "Timeline",
    "Topic",
    "as_text",
    "counted",
    "cut",
    "drawn",
    "facts",
    "fixed",
    "json_text",
    "largest",
    "listed",
    "machine_time",
    "number",
    "overview",
    "percent",
    "plain_table",
    "plural",
    "printable",
    "ranged",
    "report_object",
    "share",
    "shares",
    "six_digits",
    "spread",
    "table_object",
    "verbatim",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "charts": "Curves Made TimeSpan Timeline",
        "html": "json_text report_object table_object",
        "text": "as_text drawn",
    },
)
