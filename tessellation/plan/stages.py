"""The stages of a tessellation, as cycle reports name them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

__all__ = ["Stage", "without_configuration"]


class Stage(StrEnum):
    """Names of the stages in cycle reports, in the order in which they first run."""

    LOAD = "database load"
    LEE = "LEE configuration"
    ADDRESSES = "base addresses"
    MARKS = "marks for reading"
    BERNSTEIN = "Bernstein values"
    TRIM = "trim"
    FIRST_STALL = "wait for the first transfer"
    STALL = "wait for later transfers"
    COPY = "copy out of the port"
    DISTRIBUTION = "distribution"
    EXCHANGE = "exchange of columns"
    CONTROL_POINTS = "control points"
    POINTS = "points"
    DERIVATIVES = "derivatives"
    INNER = "sums along u"
    OUTER = "sums along v"
    FLOATS = "integers to floats"
    NORMALS = "normals"
    ROUNDING = "rounding to binary32"
    RETURN = "results to the GPs"
    KEEPING = "results to texture memory"
    KEPT_STALL = "wait for kept results"
    PORTS = "wait for free ports"
    """Of the texture stream, as all that follows."""

    @staticmethod
    def read(number: int) -> str:
        """Return the name of the stage in which the texture stream makes the transfer of that number, from 1 on."""
        return f"read {number}"


def without_configuration(stages: Mapping[str, int]) -> tuple[dict[str, int], int]:
    """Return the cycles by stage without the configuration of the LEE, and the cycles of that one.

    The first pass of a node configures the LEE, once for all that it tessellates: who tells pictures one by one tells
    it apart, since it belongs to none of them.
    """
    rest = {stage: cycles for stage, cycles in stages.items() if stage != Stage.LEE.value}
    return rest, stages.get(Stage.LEE.value, 0)
