"""Scenes: one description of a picture for every machine that draws it."""

from tessellation.picture import BACKGROUND, SIZE, PictureOrder, SceneSource
from tessellation.scenes.families import layers, shade, sized, volumes
from tessellation.scenes.scene_file import MESHES, QUESTIONS, SCENES, SceneFile, parse_scene, read_scene
from tessellation.scenes.scene_load import (
    PreparedScene,
    Scene,
    files_of,
    frames_of,
    is_scene,
    load_scene,
    overruled,
    prepare_scene,
    samples_by_view,
)
from tessellation.scenes.scene_picture import PriorWork, draw_picture, draw_scene
from tessellation.scenes.world import Body, Placed, draws_of, shadow_bodies, texture_coordinates

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
    "is_scene",
    "layers",
    "load_scene",
    "overruled",
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
