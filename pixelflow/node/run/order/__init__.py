"""Time: when what the streams issue is carried out, on the clock with boxes and wires or as soon as possible."""
