"""From a mesh to the screen on the host: camera, light, mesh files, the preview."""
