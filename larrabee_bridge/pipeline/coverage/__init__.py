"""Coverage (meaning): what triangles cover, in exact integers: rows, blocks of 4x4 pixels, bins of tiles."""
