"""Checks: a result that was computed, beside how far it may be off. What is not held makes a verification fail."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.evidence.figures.derivation import Number

__all__ = ["Check"]


@dataclass(frozen=True, slots=True)
class Check:
    """Results of a program: ``found`` may be ``most``. ``by`` says what they were compared with."""

    item: str
    found: Number
    most: Number
    unit: str
    by: str
    digest: str = ""
    """The beginning of a SHA-256 of all the bits, where they are the result."""

    @property
    def held(self) -> bool:
        """Whether the results are right; a figure that is no number is not."""
        return self.found <= self.most
