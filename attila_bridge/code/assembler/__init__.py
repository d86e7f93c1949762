"""Meaning: the text of ARB programs, read into words and constants."""

from attila_bridge.code.assembler.program import TARGET, ShaderProgram, assemble_shader

__all__ = ["TARGET", "ShaderProgram", "assemble_shader"]
