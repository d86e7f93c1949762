"""Instruction words on the EMCs: corners, light, coefficients, marks for regions, and the words' way to the GPs."""

from tessellation.rendering.words.drawing import draw_words
from tessellation.rendering.words.generate import InstructionWords, LightDifference, generate_words

__all__ = ["InstructionWords", "LightDifference", "draw_words", "generate_words"]
