"""Kernels for the vector unit (neither): the results that they compute and the cycles that they take."""

from larrabee_bridge.kernels.bezier import Tessellated, tessellate_on_vpu
from larrabee_bridge.kernels.filtering import Filtered, filter_bilinear
from larrabee_bridge.kernels.rays import RayTest, loads, time_rays
from larrabee_bridge.kernels.spmv import Multiplied, multiply, products
from larrabee_bridge.kernels.study import THREADS, Timed

__all__ = [
    "THREADS",
    "Filtered",
    "Multiplied",
    "RayTest",
    "Tessellated",
    "Timed",
    "filter_bilinear",
    "loads",
    "multiply",
    "products",
    "tessellate_on_vpu",
    "time_rays",
]
