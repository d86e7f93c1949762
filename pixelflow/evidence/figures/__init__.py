"""Figures: what stands beside one that is printed, how it came out, and what predicts it."""

from pixelflow.evidence.figures.check import Check
from pixelflow.evidence.figures.claim import (
    CheckedClaim,
    Claim,
    ClaimClass,
    ClaimVerdict,
    Measured,
    PrintedRange,
    Value,
)
from pixelflow.evidence.figures.derivation import Derivation, Number, derived, figure_text, same
from pixelflow.evidence.figures.note import Digits, Note, Quotation, Reason
from pixelflow.evidence.figures.row import Basis, Figure, Row, RowVerdict

__all__ = [
    "Basis",
    "Check",
    "CheckedClaim",
    "Claim",
    "ClaimClass",
    "ClaimVerdict",
    "Derivation",
    "Digits",
    "Figure",
    "Measured",
    "Note",
    "Number",
    "PrintedRange",
    "Quotation",
    "Reason",
    "Row",
    "RowVerdict",
    "Value",
    "derived",
    "figure_text",
    "same",
]
