"""What the thesis prints, in figures, formulas and notes, and how a measured figure stands beside it."""
