"""Back end (neither): programs for the pixels of a tile, and what drives them (Seiler et al. 2008, 4.5)."""

from larrabee_bridge.pipeline.backend.programs import TileStage
from larrabee_bridge.pipeline.backend.render import render_back_end
from larrabee_bridge.pipeline.backend.result import BackEnd
from larrabee_bridge.pipeline.backend.texture_unit import TextureConfig, TileTextureUnit

__all__ = ["BackEnd", "TextureConfig", "TileStage", "TileTextureUnit", "render_back_end"]
