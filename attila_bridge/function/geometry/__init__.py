"""Meaning: from shaded vertices to the quads that triangles cover, in the order of traversal."""
