"""Meaning: scenes of the form `attila-scene/1`, with buffers, textures by formula, programs and draws."""

from attila_bridge.scene.load import load_scene, read_scene
from attila_bridge.scene.model import AttilaScene

__all__ = ["AttilaScene", "load_scene", "read_scene"]
