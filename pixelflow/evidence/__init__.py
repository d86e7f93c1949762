"""Evidence: what papers claim, as data, beside what is measured here; knows no paper and no machine."""

from pixelflow.evidence.bench import Bench, NotMeasured, Remark
from pixelflow.evidence.claims import CheckedClaim, Claim, ClaimClass, ClaimVerdict, Measured, Span, Value
from pixelflow.evidence.figures import (
    Basis,
    Check,
    Derivation,
    Digits,
    Figure,
    Note,
    Number,
    Quotation,
    Reason,
    Row,
    RowVerdict,
    derived,
    same,
)
from pixelflow.evidence.paper import AnyPaper, Paper, Verified, paper_of
from pixelflow.evidence.report import evidence_report

__all__ = [
    "AnyPaper",
    "Basis",
    "Bench",
    "Check",
    "CheckedClaim",
    "Claim",
    "ClaimClass",
    "ClaimVerdict",
    "Derivation",
    "Digits",
    "Figure",
    "Measured",
    "NotMeasured",
    "Note",
    "Number",
    "Paper",
    "Quotation",
    "Reason",
    "Remark",
    "Row",
    "RowVerdict",
    "Span",
    "Value",
    "Verified",
    "derived",
    "evidence_report",
    "paper_of",
    "same",
]
