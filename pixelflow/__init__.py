"""A simulator of PixelFlow, the 8192-PE SIMD graphics machine of UNC Chapel Hill.

This package is the machine: configuration, instruction set, lane engines, node and command line. Import what you
need from its parts, for instance ``from pixelflow.config import THESIS`` and ``from pixelflow.node import Node``.
"""

__version__ = "0.1.0"
