"""Shading: the queues of quads and vertices, the shaders, the texture units."""
