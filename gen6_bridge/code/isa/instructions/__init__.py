"""Meaning: the instructions, each declared once with what it does."""

from gen6_bridge.code.isa.instructions import (
    arithmetic,
    compares,
    floats,
    flow,
    logic,
    mathematics,
    messages,
    moves,
    products,
)

__all__ = ["arithmetic", "compares", "floats", "flow", "logic", "mathematics", "messages", "moves", "products"]
