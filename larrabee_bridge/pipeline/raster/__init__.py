"""Rasterizer (neither): set-up and recursive descent as programs over a whole screen, with their cycles."""
