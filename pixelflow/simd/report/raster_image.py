"""Images that stand beside a report in a notebook: rows of bytes, and the PNG that pillow makes of them."""

from __future__ import annotations

import io
from base64 import b64encode
from dataclasses import dataclass
from html import escape

from pixelflow.simd.errors import InputError, MissingPackageError

__all__ = ["RasterImage"]

_MODES = {1: "L", 3: "RGB"}


@dataclass(frozen=True, slots=True)
class RasterImage:
    """An image: ``data`` holds rows from the top, each pixel as one byte of grey or three of red, green and blue.

    ``scale`` is the side of a pixel on the screen; ``caption`` says in a line what one sees.
    """

    width: int
    height: int
    channels: int
    data: bytes
    caption: str = ""
    scale: int = 1

    def __post_init__(self) -> None:
        if self.channels not in _MODES or len(self.data) != self.width * self.height * self.channels:
            size = f"{self.width} x {self.height} x {self.channels}"
            raise InputError(f"an image of {size} bytes has {len(self.data)} bytes; channels are 1 or 3")

    def __repr__(self) -> str:
        return f"RasterImage({self.width} x {self.height}, {self.caption!r})"

    def png(self) -> bytes:
        """Return a PNG file; raises MissingPackageError without pillow."""
        try:
            from PIL import Image
        except ImportError:
            raise MissingPackageError("writing a PNG needs Pillow, which is not installed", "image") from None
        buffer = io.BytesIO()
        image = Image.frombytes(_MODES[self.channels], (self.width, self.height), self.data)
        image.save(buffer, format="PNG", optimize=True)
        return buffer.getvalue()

    def html(self) -> str:
        """Return the image as a piece of a page; empty without pillow."""
        try:
            file = b64encode(self.png()).decode()
        except MissingPackageError:
            return ""
        size = f'width="{self.width * self.scale}" height="{self.height * self.scale}"'
        caption = escape(self.caption)
        style = "image-rendering: pixelated" if self.scale > 1 else "max-width: 100%"
        source = f'src="data:image/png;base64,{file}"'
        return (
            f'<figure><img {size} alt="{caption}" style="{style}" {source}/><figcaption>{caption}</figcaption></figure>'
        )
