"""Larrabee's vector unit and binning rasterizer on the same lane engine: planned, nothing is here yet."""
