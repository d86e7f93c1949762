"""Sums in fixed point: weights and control values as integers, one exponent for all values of a patch."""
