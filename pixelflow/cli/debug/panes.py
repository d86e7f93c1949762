"""Panes of a split screen: where the run stands, its source, the array, registers, as text of a given size."""

from __future__ import annotations

from collections.abc import Iterable

from pixelflow.cli.debug.commands import Debugger
from pixelflow.cli.shell.pe_selection import map_view
from pixelflow.debugger import views
from pixelflow.node.pe_map import MapView
from pixelflow.node.pe_report import map_parts, no_map, registers_table
from pixelflow.simd.report import Part, as_text

__all__ = ["Panes"]

_TABLE_HEAD = 3
"""Lines of a table above its rows."""
_NARROWEST = 8
"""Columns of a map below which it is cut."""
_BOTH = 16
"""Lines from which on a pane has room for the code of two streams."""


class Panes:
    """What a split screen shows of a session besides its dialogue; sizes are in columns and lines."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        debugger.pictured = True
        self.stream = next(iter(debugger.session.replay.streams))
        """The stream whose code is shown where there is room for one."""

    @property
    def streams_lines(self) -> int:
        """How many lines `position` needs."""
        return 1 + 2 * len(self._debugger.session.replay.streams)

    def next_stream(self) -> None:
        """Show the code of the other stream, if there is one."""
        names = list(self._debugger.session.replay.streams)
        self.stream = names[(names.index(self.stream) + 1) % len(names)]

    def position(self, width: int, height: int) -> str:
        """Return cycle and streams."""
        return _text(views.position(width, self._debugger.session), width, height)

    def code(self, width: int, height: int) -> str:
        """Return the code around what a stream has next; of all streams where there is room."""
        session = self._debugger.session
        names = list(session.replay.streams) if height >= _BOTH else [self.stream]
        share = height // len(names)
        texts = [_text(views.code_window(width, session, name, share), width, share) for name in names]
        return "\n".join(texts)

    def array(self, width: int, height: int) -> str:
        """Return the map that was last asked for."""
        session = self._debugger.session
        view = map_view(self._debugger.shown_map, session.program)
        columns = width
        while True:  # until it fits below its heading
            parts = [views.line(each, width) if isinstance(each, str) else each for each in self._map(view, columns)]
            text = as_text(parts, width, color=True).splitlines()
            if len(text) <= height or columns <= _NARROWEST:
                return "\n".join(text[:height])
            columns = columns * 3 // 4

    def _map(self, view: MapView, columns: int) -> list[Part]:
        return [*map_parts(self._debugger.session.node, view, columns)] or [no_map(view)]

    def registers(self, width: int, height: int) -> str:
        """Return registers and flags of the chosen PEs, as many as there is room for."""
        node = self._debugger.session.node
        room = max(1, height - _TABLE_HEAD)
        lanes = self._debugger.lanes or list(range(min(room, node.lanes)))
        return _text([registers_table(node, lanes[:room])], width, height)


def _text(parts: Iterable[Part], width: int, height: int) -> str:
    return "\n".join(as_text(parts, width, color=True).splitlines()[:height])
