"""Trimmed patches: files, what lies inside, meshes."""
