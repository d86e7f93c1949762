"""The machine in a browser: a local page that draws on the machine, and looks into runs."""

from pixelflow.view.alive.room import DrawingRoom
from pixelflow.view.explorer.room import ExplorerRoom, RunDialogue
from pixelflow.view.server.desks import Desks
from pixelflow.view.server.messages import PageRoom, Telling
from pixelflow.view.server.serving import require_server, serve

__all__ = ["Desks", "DrawingRoom", "ExplorerRoom", "PageRoom", "RunDialogue", "Telling", "require_server", "serve"]
