"""Split screen of a debugger: source, array and registers side by side, with the dialogue below them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.widgets import Footer, Input, RichLog, Static

from pixelflow.cli.debug import Debugger
from pixelflow.cli.programs import map_view
from pixelflow.debugger import views
from pixelflow.node.pe_map import MapView
from pixelflow.node.pe_report import map_parts, no_map, registers_table
from pixelflow.simd.errors import SimulatorError, format_error
from pixelflow.simd.report import Part, as_text

# Panes of a split screen: where the run stands, its source, the array, registers, as text of a given size.


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


_STYLE = """
#position { height: 3; padding: 0 1; background: $panel; }
#upper { height: 2fr; }
#code { width: 1fr; height: 100%; padding: 0 1; }
#array { width: 44%; height: 100%; padding: 0 1; border-left: solid $primary; }
#lower { height: 1fr; border-top: solid $primary; }
#log { width: 1fr; height: 100%; padding: 0 1; scrollbar-size-vertical: 1; }
#registers { width: 44%; min-width: 41; height: 100%; padding: 0 1; border-left: solid $primary; }
#prompt { height: 1; border: none; padding: 0 1; }
"""
_PANES = ("position", "code", "array", "registers")
_NEXT = r"(?m)^ {0,8}\w* =>.*$"
"""The line of an instruction that comes next."""


class SplitScreen(App[None]):
    """The debugger on a whole terminal: function keys move the run, a line at the bottom takes every command.

    A command is carried out in a thread, so that Escape can interrupt it.
    """

    CSS = _STYLE
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "carry_out('continue')", "continue", priority=True),
        Binding("f7", "carry_out('back')", "back", priority=True),
        Binding("f8", "carry_out('next')", "over", priority=True),
        Binding("f9", "carry_out('step')", "step", priority=True),
        Binding("f2", "next_stream", "stream", priority=True),
        Binding("escape", "interrupt", "interrupt", priority=True),
        Binding("ctrl+q", "quit", "quit", priority=True),
    ]

    def __init__(self, debugger: Debugger) -> None:
        super().__init__()
        self._debugger = debugger
        self._panes = Panes(debugger)
        self._busy = False
        self._last = ""

    def compose(self) -> ComposeResult:
        """Yield the panes, the dialogue and the line of commands."""
        yield Static(id="position", markup=False)
        with Horizontal(id="upper"):
            yield Static(id="code", markup=False)
            yield Static(id="array", markup=False)
        with Horizontal(id="lower"):
            yield RichLog(id="log", wrap=False, min_width=1)
            yield Static(id="registers", markup=False)
        yield Input(id="prompt", placeholder="a command; help lists them", compact=True)
        yield Footer()

    def on_mount(self) -> None:
        """Let commands answer in the dialogue, and take the first one."""
        self.query_one("#position", Static).styles.height = self._panes.streams_lines
        self._debugger.screen = replace(self._debugger.screen, color=True, sink=self._tell)
        self.query_one("#prompt", Input).focus()

    def on_resize(self, event: Resize) -> None:
        """Fill the panes anew, as soon as they have their sizes."""
        self.call_after_refresh(self._show)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Carry out what was typed; an empty line is the last command again."""
        text = event.value.strip() or self._last
        event.input.value = ""
        if text:
            self.action_carry_out(text)

    def action_carry_out(self, text: str) -> None:
        """Carry out one command while the screen goes on listening."""
        if self._busy:
            self._write("still at work: Escape interrupts it")
            return
        self._busy, self._last = True, text
        self._write(f"(pixelflow) {text}")
        self.run_worker(lambda: self._carry_out(text), thread=True)

    def action_next_stream(self) -> None:
        """Show the code of the other stream."""
        self._panes.next_stream()
        self._show()

    def action_interrupt(self) -> None:
        """Ask a long movement to end."""
        self._debugger.interrupt()

    def _carry_out(self, text: str) -> None:
        """Carry out a command in a thread of its own."""
        try:
            self._debugger.carry_out(text)
        except SimulatorError as error:
            self._debugger.screen.print(*format_error(error).splitlines())
        finally:
            self._busy = False
        self.call_from_thread(self.exit if self._debugger.ended else self._show)

    def _tell(self, text: str) -> None:
        """Take what a command answers, in its thread."""
        self.call_from_thread(self._write, text)

    def _write(self, text: str) -> None:
        if text.strip():
            self.query_one("#log", RichLog).write(Text.from_ansi(text.rstrip("\n")))

    def _show(self) -> None:
        """Fill the panes with what there is at this position."""
        if self._busy:
            return
        log = self.query_one("#log", RichLog)
        if log.size.width:
            self._debugger.screen = replace(self._debugger.screen, width=max(20, log.size.width - 2))
        for name in _PANES:
            pane = self.query_one(f"#{name}", Static)
            size = pane.content_size
            if size.width and size.height:
                text = Text.from_ansi(getattr(self._panes, name)(size.width, size.height))
                text.highlight_regex(_NEXT, "reverse")
                pane.update(text)
