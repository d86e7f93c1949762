"""Kernels for the vector unit (neither): the results that they compute and the cycles that they take."""
