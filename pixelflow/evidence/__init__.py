"""Evidence: what papers claim, as data, beside what is measured here; knows no paper and no machine."""

from pixelflow.evidence.bench import Bench, NotMeasured
from pixelflow.evidence.paper import (
    AnyPaper,
    CheckedClaim,
    Claim,
    ClaimClass,
    Measured,
    Paper,
    Value,
    Verified,
    paper_of,
)
from pixelflow.evidence.report import evidence_report
from pixelflow.evidence.row import Basis, Figure, Note, Number, Range, Reason, Row, RowVerdict

__all__ = [
    "AnyPaper",
    "Basis",
    "Bench",
    "CheckedClaim",
    "Claim",
    "ClaimClass",
    "Figure",
    "Measured",
    "NotMeasured",
    "Note",
    "Number",
    "Paper",
    "Range",
    "Reason",
    "Row",
    "RowVerdict",
    "Value",
    "Verified",
    "evidence_report",
    "paper_of",
]
