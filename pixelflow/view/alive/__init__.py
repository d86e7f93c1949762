"""The machine alive: patches that a mouse turns, tessellated and drawn on simulated machines, picture by picture."""
