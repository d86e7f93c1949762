"""Scenes: what is to be drawn, from one file, for every machine that draws it."""

from tessellation.picture import PictureOrder, SceneSource
from tessellation.scenes.families import layers, shade, sized, volumes
from tessellation.scenes.file import BACKGROUND, MESHES, QUESTIONS, SCENES, SIZE, SceneFile, parse_scene, read_scene
from tessellation.scenes.load import (
    PreparedScene,
    Scene,
    files_of,
    frames_of,
    load_scene,
    prepare_scene,
    samples_by_view,
)
from tessellation.scenes.pictures import PriorWork, draw_picture, draw_scene
from tessellation.scenes.shadows import shadow_bodies
from tessellation.scenes.world import Body, Placed, draws_of, texture_coordinates

__all__ = [
    "BACKGROUND",
    "MESHES",
    "QUESTIONS",
    "SCENES",
    "SIZE",
    "Body",
    "PictureOrder",
    "Placed",
    "PreparedScene",
    "PriorWork",
    "Scene",
    "SceneFile",
    "SceneSource",
    "draw_picture",
    "draw_scene",
    "draws_of",
    "files_of",
    "frames_of",
    "layers",
    "load_scene",
    "parse_scene",
    "prepare_scene",
    "read_scene",
    "samples_by_view",
    "shade",
    "shadow_bodies",
    "sized",
    "texture_coordinates",
    "volumes",
]
