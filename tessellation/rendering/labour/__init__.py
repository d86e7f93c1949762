"""The division of labour between EMCs and GPs (thesis 3.1.2): the ways side by side, and frame after frame."""

from tessellation.rendering.labour.turning import Turning, turn, turning_report
from tessellation.rendering.labour.ways import labour_report

__all__ = ["Turning", "labour_report", "turn", "turning_report"]
