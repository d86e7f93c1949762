"""Surfaces: patches and their files, the reference in 64 bits, samples, and meshes that close."""
