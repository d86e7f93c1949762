"""The back end of Larrabee's renderer: programs for the pixels of a tile, and what drives them."""

from larrabee_bridge.backend.programs import TileStage
from larrabee_bridge.backend.render import render_back_end
from larrabee_bridge.backend.result import BackEnd
from larrabee_bridge.backend.texture_unit import TextureConfig, TileTextureUnit

__all__ = ["BackEnd", "TextureConfig", "TileStage", "TileTextureUnit", "render_back_end"]
