"""Time: the instruction streams of a program, walked without PE data and without a clock."""
