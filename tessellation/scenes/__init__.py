"""Scenes: what is to be drawn, from one file, for every machine that draws it."""

from tessellation.scenes.families import layers, sized, volumes
from tessellation.scenes.file import BACKGROUND, MESHES, SCENES, SIZE, Placed, SceneFile, parse_scene, read_scene
from tessellation.scenes.load import Scene, SceneSource, files_of, load_scene
from tessellation.scenes.world import Body, draws_of, texture_coordinates

__all__ = [
    "BACKGROUND",
    "MESHES",
    "SCENES",
    "SIZE",
    "Body",
    "Placed",
    "Scene",
    "SceneFile",
    "SceneSource",
    "draws_of",
    "files_of",
    "layers",
    "load_scene",
    "parse_scene",
    "read_scene",
    "sized",
    "texture_coordinates",
    "volumes",
]
