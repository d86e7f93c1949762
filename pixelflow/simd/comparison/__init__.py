"""Machines side by side: reports (here), bars (`dashboard`) and figures (`figure`) of the same picture by several."""

from pixelflow.simd.comparison.comparison import (
    Beside,
    beside_parts,
    comparison_object,
    comparison_parts,
    side_object,
    side_tables,
)

__all__ = ["Beside", "beside_parts", "comparison_object", "comparison_parts", "side_object", "side_tables"]
