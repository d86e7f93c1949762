"""The microcode of passes: stages, ways of control points and results, and both schedules."""
