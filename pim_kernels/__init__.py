"""Kernels of processing in memory as microcode: programs, their data, and what they take on machines of any size."""

from pim_kernels.kernel import PimKernel, PimProblem, kernel_program
from pim_kernels.kernels import KERNELS
from pim_kernels.measure import KernelRun, measure
from pim_kernels.report import kernels_report

__all__ = ["KERNELS", "KernelRun", "PimKernel", "PimProblem", "kernel_program", "kernels_report", "measure"]
