"""From a mesh to the screen on the host: camera, light, mesh files, orders; the preview is in `preview.py`."""

from tessellation.picture.camera import (
    CAMERA_PLACES,
    CAMERA_RANGES,
    FARTHEST,
    NEAR_RANGE,
    Camera,
    Standpoint,
    View,
    apart,
    camera_contradictions,
    frame,
    unit,
)
from tessellation.picture.clip_space import Offset, clip_matrix, widened_for_floats
from tessellation.picture.cutting import CutTriangles, cut_triangles
from tessellation.picture.lighting import CLAY, FILL, GAMMA, KEY, LIGHT, check_mesh, facets, lit_corners, lit_triangles
from tessellation.picture.models import MESH_SUFFIXES, Model, read_model
from tessellation.picture.order import BACKGROUND, SAMPLES, SIZE, UPS, PictureOrder, SceneSource

__all__ = [
    "BACKGROUND",
    "CAMERA_PLACES",
    "CAMERA_RANGES",
    "CLAY",
    "FARTHEST",
    "FILL",
    "GAMMA",
    "KEY",
    "LIGHT",
    "MESH_SUFFIXES",
    "NEAR_RANGE",
    "SAMPLES",
    "SIZE",
    "UPS",
    "Camera",
    "CutTriangles",
    "Model",
    "Offset",
    "PictureOrder",
    "SceneSource",
    "Standpoint",
    "View",
    "apart",
    "camera_contradictions",
    "check_mesh",
    "clip_matrix",
    "cut_triangles",
    "facets",
    "frame",
    "lit_corners",
    "lit_triangles",
    "read_model",
    "unit",
    "widened_for_floats",
]
