"""Frames as text and as what a terminal would get."""

import io
from pathlib import Path

from rich.console import Console

from pixelflow.simd.dashboard import FrameState

FRAMES = Path(__file__).parent / "frames"


def drawn(state: FrameState, width: int, height: int, *, color: bool = False, no_color: bool = False) -> str:
    """Return a frame as a console of that size prints it; without colour, as lines without trailing space."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, height=height, force_terminal=color, color_system="truecolor" if color else None,
        no_color=no_color, markup=False, highlight=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    console.print(state.frame(width, height))
    if color:
        return out.getvalue()
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def stored(name: str, width: int, height: int) -> Path:
    """Return the file that holds how a frame must look."""
    return FRAMES / f"{name}_{width}x{height}.txt"
