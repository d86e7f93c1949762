"""Raster operations: depth and colour units with their caches."""
