"""The machine in a browser: a local page that draws on the machine and looks into runs, also in a notebook."""

from pixelflow.view.alive import DrawingRoom
from pixelflow.view.explorer import ExplorerRoom, TracedRun, TraceRoom, run_explorer
from pixelflow.view.server import Desks, PageRoom, Telling, require_server, serve

__all__ = [
    "Desks",
    "DrawingRoom",
    "ExplorerRoom",
    "PageRoom",
    "Telling",
    "TraceRoom",
    "TracedRun",
    "require_server",
    "run_explorer",
    "serve",
]
