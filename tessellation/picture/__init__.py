"""From a mesh to the screen on the host: camera, light, mesh files; the preview is in `preview.py`."""

from tessellation.picture.camera import Camera, Standpoint, View, frame
from tessellation.picture.lighting import CLAY, check_mesh, lit_corners, lit_triangles
from tessellation.picture.models import MESH_SUFFIXES, Model, read_model

__all__ = [
    "CLAY",
    "MESH_SUFFIXES",
    "Camera",
    "Model",
    "Standpoint",
    "View",
    "check_mesh",
    "frame",
    "lit_corners",
    "lit_triangles",
    "read_model",
]
