"""Meaning: the instructions, each declared with its meaning."""

from attila_bridge.code.isa.instructions import arithmetic, flow, functions, lighting, texture

__all__ = ["arithmetic", "flow", "functions", "lighting", "texture"]
