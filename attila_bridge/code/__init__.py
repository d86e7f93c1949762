"""Meaning: the ARB instructions, each declared once, and the assembler of their text."""
