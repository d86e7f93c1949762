r"""Program text in formats that cannot hold every character: what they cannot hold becomes ``\x9;``, its number."""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["ascii_text", "escape", "is_number", "line_text", "unescape"]

_ESCAPE = re.compile(r"\\x(10[0-9a-f]{4}|[0-9a-f]{1,5});")
_MOST_DIGITS = 18


def line_text(text: str) -> str:
    r"""Return a text without tabs, line ends and control characters."""
    return escape(text, str.isprintable)


def ascii_text(text: str) -> str:
    """Return a text of printable ASCII."""
    return escape(text, lambda c: c.isascii() and c.isprintable())


def escape(text: str, holds: Callable[[str], bool]) -> str:
    r"""Return a text of characters that a format holds; the others, and ``\``, become their numbers."""
    return "".join(c if holds(c) and c != "\\" else f"\\x{ord(c):x};" for c in text)


def is_number(text: str) -> bool:
    """Return whether a text is a whole number that 64 bits hold."""
    return text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS


def unescape(text: str) -> str:
    """Return the text that was escaped."""
    return _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), text)
