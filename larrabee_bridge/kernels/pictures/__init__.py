"""Kernels that draw (neither): layers in any order, shadows from lists of samples, tones of tiles."""
