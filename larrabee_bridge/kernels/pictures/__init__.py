"""Kernels that draw (neither): layers in any order, fog between them, shadows from lists of samples, tones of tiles."""
