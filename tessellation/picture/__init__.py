"""From a mesh to the screen on the host: camera, light, mesh files, orders; the preview is in `preview.py`."""

from tessellation.picture.camera import CAMERA_RANGES, Camera, Standpoint, View, frame, unit
from tessellation.picture.clip_space import Offset, clip_matrix, widened_for_floats
from tessellation.picture.lighting import CLAY, FILL, GAMMA, KEY, LIGHT, check_mesh, facets, lit_corners, lit_triangles
from tessellation.picture.models import MESH_SUFFIXES, Model, read_model
from tessellation.picture.order import BACKGROUND, SAMPLES, SIZE, UPS, PictureOrder, SceneSource

__all__ = [
    "BACKGROUND",
    "CAMERA_RANGES",
    "CLAY",
    "FILL",
    "GAMMA",
    "KEY",
    "LIGHT",
    "MESH_SUFFIXES",
    "SAMPLES",
    "SIZE",
    "UPS",
    "Camera",
    "Model",
    "Offset",
    "PictureOrder",
    "SceneSource",
    "Standpoint",
    "View",
    "check_mesh",
    "clip_matrix",
    "facets",
    "frame",
    "lit_corners",
    "lit_triangles",
    "read_model",
    "unit",
    "widened_for_floats",
]
