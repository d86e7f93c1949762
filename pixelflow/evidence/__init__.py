"""Evidence: what papers claim, as data, beside what is measured here; knows no paper and no machine."""

from pixelflow.evidence.claim import (
    Basis,
    Check,
    CheckedClaim,
    Claim,
    ClaimClass,
    ClaimVerdict,
    Digits,
    Figure,
    Measured,
    Note,
    PrintedRange,
    Quotation,
    Reason,
    Row,
    RowVerdict,
    Value,
)
from pixelflow.evidence.derivation import Derivation, Number, derived, same
from pixelflow.evidence.paper import AnyPaper, Bench, NotMeasured, Paper, Remark, Verified, paper_of
from pixelflow.evidence.verification import evidence_report

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
    "PrintedRange",
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
