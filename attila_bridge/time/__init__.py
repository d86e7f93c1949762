"""Time: the boxes and wires of the machine, in cycles; they know the work of a frame, not its values."""
