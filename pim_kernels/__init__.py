"""Processing-in-memory kernels as microcode: programs, their data, and their cycles on machines of any size."""

from pim_kernels.kernel import KERNELS, PimKernel, PimProblem, kernel_program
from pim_kernels.measure import KernelRun, kernels_report, measure

__all__ = ["KERNELS", "KernelRun", "PimKernel", "PimProblem", "kernel_program", "kernels_report", "measure"]
