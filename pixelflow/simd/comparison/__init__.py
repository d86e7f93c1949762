"""Comparison of machines: the report of the same picture by several."""

from pixelflow.simd.comparison.comparison import (
    EXPLAINED,
    Beside,
    comparison_object,
    comparison_parts,
    comparison_topics,
    side_object,
    side_tables,
)

__all__ = [
    "EXPLAINED",
    "Beside",
    "comparison_object",
    "comparison_parts",
    "comparison_topics",
    "side_object",
    "side_tables",
]
