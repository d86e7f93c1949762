"""Meaning: what becomes of covered quads: tests, shading, colour."""
