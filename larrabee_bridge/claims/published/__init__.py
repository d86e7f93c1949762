"""Claims as printed: every figure of the paper, as data."""
