"""From a mesh to the screen on the host: camera, light, mesh files, orders; the preview is in `preview.py`."""

from tessellation.picture.camera import Camera, Standpoint, View, frame
from tessellation.picture.lighting import CLAY, check_mesh, lit_corners, lit_triangles
from tessellation.picture.models import MESH_SUFFIXES, Model, read_model
from tessellation.picture.order import BACKGROUND, SAMPLES, SIZE, PictureOrder, SceneSource

__all__ = [
    "BACKGROUND",
    "CLAY",
    "MESH_SUFFIXES",
    "SAMPLES",
    "SIZE",
    "Camera",
    "Model",
    "PictureOrder",
    "SceneSource",
    "Standpoint",
    "View",
    "check_mesh",
    "frame",
    "lit_corners",
    "lit_triangles",
    "read_model",
]
