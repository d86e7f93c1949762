"""Whether the values of a model's configuration are within their ranges."""

from __future__ import annotations

from typing import Any

from pixelflow.simd.config.param import leaf_faults, leaves
from pixelflow.simd.errors import InputError

__all__ = ["check_ranges"]


def check_ranges(config: Any) -> None:
    """Raise InputError with every value of a configuration that is of another type or out of its range."""
    faults = [fault for key, *known in leaves(config) for fault in leaf_faults(key, *known)]
    if faults:
        raise InputError(faults)
