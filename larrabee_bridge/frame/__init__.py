"""Frame (time): a whole picture from rasterizer to resolved tiles, and where its cycles go."""
