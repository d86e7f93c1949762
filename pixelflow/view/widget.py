"""The run explorer as a widget: the page's own files and rooms, over the messages of a notebook (extra `notebook`).

A request of the page is a custom message ``{"ask": TEXT}``; each answer is one with the bytes that a web socket would
take. All views of one widget look at one run, which is at one cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import anywidget
import traitlets

from pixelflow.view.server import LONGEST, Desk, PageRoom, Telling, page_assets

_SCRIPT = "widget.js"
_FILES = ("index.html", "style.css", "link.js", "elements.js", "listing.js", "timeline.js", "explorer.js")


class RunExplorer(anywidget.AnyWidget):
    """A run to look into. `close` ends its threads, and forgets the run."""

    _esm = page_assets()[_SCRIPT].content.decode()
    assets = traitlets.Dict({name: page_assets()[name].content.decode() for name in _FILES}).tag(sync=True)
    """The files of the page, by name."""
    HEIGHTS = 200, 4000
    """From and to."""
    height = traitlets.Int(760, min=HEIGHTS[0], max=HEIGHTS[1]).tag(sync=True)
    """Of the explorer, in the pixels of a page."""

    def __init__(self, furnish: Callable[[Telling], Iterable[PageRoom]], **traits: int) -> None:
        """``furnish`` makes the rooms that answer, as for a page."""
        super().__init__(**traits)
        self._desk = Desk(furnish)
        self._desk.send = self._reply
        self.on_msg(self._heard)

    def close(self) -> None:
        """End the threads that work for the explorer."""
        desk = getattr(self, "_desk", None)
        if desk is not None:
            desk.send = None
            desk.close()
        super().close()

    def _heard(self, widget: RunExplorer, content: object, buffers: Sequence[memoryview]) -> None:
        text = content.get("ask") if isinstance(content, dict) else None
        self._desk.ask(text if isinstance(text, str) and len(text) <= LONGEST else "", self._reply)

    def _reply(self, message: bytes) -> None:
        if self.comm is not None:
            self.send({"answer": True}, [message])
