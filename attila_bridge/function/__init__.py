"""Meaning: pictures of whole draws in arrays, without a clock."""

from attila_bridge.function.draw import draw
from attila_bridge.function.layout import Units

__all__ = ["Units", "draw"]
