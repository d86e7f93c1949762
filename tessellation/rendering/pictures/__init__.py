"""Pictures that commands order of PixelFlow, and their reports."""
