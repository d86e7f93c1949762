"""Vertices: fetch of indices, cache of shaded vertices, loader, commit, assembly, clipper."""
