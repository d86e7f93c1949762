"""Kernels of processing in memory as microcode: programs, their data, and what they take on machines of any size."""

from pim_kernels.kernel import KERNELS, PimKernel, PimProblem, kernel_program
from pim_kernels.measure import KernelRun, kernels_report, measure

__all__ = ["KERNELS", "KernelRun", "PimKernel", "PimProblem", "kernel_program", "kernels_report", "measure"]
