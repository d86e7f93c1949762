"""The division of labour between EMCs and GPs, side by side (thesis 3.1.2)."""

from tessellation.rendering.labour.ways import labour_report

__all__ = ["labour_report"]
