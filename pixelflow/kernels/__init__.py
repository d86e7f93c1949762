"""Macro kernels: whole float routines as native functions, and the engine that carries them out."""

from pixelflow.kernels.choice import ENGINES, MACRO, MACRO_CHECKED, choose, make_engine

__all__ = ["ENGINES", "MACRO", "MACRO_CHECKED", "choose", "make_engine"]
