"""Commands: the command processor, which goes through a frame, and the display, which takes the picture."""
