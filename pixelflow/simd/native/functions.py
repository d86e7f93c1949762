"""Native functions from text: whether this host has native code, and the addresses of functions written in LLVM IR."""

from __future__ import annotations

from collections.abc import Sequence

from pixelflow.simd.lanes.choice import available

__all__ = ["functions", "works_natively"]


def works_natively() -> bool:
    """Return whether native code works on this host: a trial gave the right bits (`lanes/choice.py`)."""
    return "compiled" in available()


def functions(names: Sequence[str], text: str) -> list[int]:
    """Return the addresses of functions of a text of LLVM IR; they live as long as the process.

    They are compiled with care, and kept on disk for the next process. Raises what LLVM raises.
    """
    # Only who has native code imports what makes it.
    from pixelflow.simd.lanes.compiled.native import native

    return native().functions(names, text)
