"""Code: the instruction set, its rules, and the programs that are written with it."""
