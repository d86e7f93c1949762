"""The machine in a browser: a local page that draws on the machine and looks into runs, also in a notebook."""

from pixelflow.view.alive.room import DrawingRoom
from pixelflow.view.explorer.room import ExplorerRoom, RunDialogue
from pixelflow.view.explorer.traced import TracedRun, TraceRoom
from pixelflow.view.notebook.opening import run_explorer
from pixelflow.view.server.desks import Desks
from pixelflow.view.server.messages import PageRoom, Telling
from pixelflow.view.server.serving import require_server, serve

__all__ = [
    "Desks",
    "DrawingRoom",
    "ExplorerRoom",
    "PageRoom",
    "RunDialogue",
    "Telling",
    "TraceRoom",
    "TracedRun",
    "require_server",
    "run_explorer",
    "serve",
]
