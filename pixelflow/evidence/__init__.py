"""Evidence: what papers claim, as data, beside what is measured here; knows no paper and no machine."""

from pixelflow.evidence.bench import Bench, NotMeasured, Remark
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

__all__ = [
    "AnyPaper",
    "Basis",
    "Bench",
    "Check",
    "CheckedClaim",
    "Claim",
    "ClaimClass",
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
    "Value",
    "Verified",
    "derived",
    "evidence_report",
    "paper_of",
    "same",
]
