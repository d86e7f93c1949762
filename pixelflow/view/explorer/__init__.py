"""The run explorer: a timeline of all parts, the program with its heat, PEs, and the debugger's session."""
