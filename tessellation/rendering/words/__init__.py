"""Instruction words on the EMCs: corners, light, coefficients, marks for regions, and the words' way to the GPs."""

from tessellation.rendering.words.account import word_data, word_facts
from tessellation.rendering.words.drawing import draw_words
from tessellation.rendering.words.generate import InstructionWords, LightDifference, generate_words
from tessellation.rendering.words.programs import SEND_STAGE

__all__ = [
    "SEND_STAGE",
    "InstructionWords",
    "LightDifference",
    "draw_words",
    "generate_words",
    "word_data",
    "word_facts",
]
