r"""Program text in formats that cannot hold every character: what they cannot hold becomes ``\x9;``, its number."""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["ascii_text", "escape", "line_text", "unescape"]

_ESCAPE = re.compile(r"\\x([0-9a-f]+);")


def line_text(text: str) -> str:
    r"""Return a text without tabs, line ends and control characters."""
    return escape(text, str.isprintable)


def ascii_text(text: str) -> str:
    """Return a text of printable ASCII."""
    return escape(text, lambda c: c.isascii() and c.isprintable())


def escape(text: str, holds: Callable[[str], bool]) -> str:
    r"""Return a text of characters that a format holds; the others, and ``\``, become their numbers."""
    return "".join(c if holds(c) and c != "\\" else f"\\x{ord(c):x};" for c in text)


def unescape(text: str) -> str:
    """Return the text that was escaped."""
    return _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), text)
