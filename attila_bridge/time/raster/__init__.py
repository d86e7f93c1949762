"""Rasterizer: set-up, traversal, hierarchical Z, interpolation."""
