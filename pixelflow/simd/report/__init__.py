"""Reports as data, and what makes text, JSON, Markdown, HTML and notebook cells of them."""

from pixelflow.simd.report.figures import Curves, Made, Timeline, TimeSpan
from pixelflow.simd.report.forms import (
    counted,
    cut,
    facts,
    fixed,
    listed,
    machine_time,
    number,
    overview,
    percent,
    plain_table,
    plural,
    printable,
    ranged,
    share,
    shares,
    six_digits,
    spread,
    verbatim,
)
from pixelflow.simd.report.json import json_text, report_object, table_object
from pixelflow.simd.report.model import Column, Fact, Heading, Illustration, Json, Part, Report, Table
from pixelflow.simd.report.notebook import Shown, ShownTable
from pixelflow.simd.report.raster_image import RasterImage
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
    "as_text",
    "counted",
    "cut",
    "drawn",
    "facts",
    "fixed",
    "json_text",
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
