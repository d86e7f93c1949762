"""Meaning: the 128 bits of an instruction, the operands that stand in them, and the text of both."""
