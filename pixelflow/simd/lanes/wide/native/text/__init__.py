"""Text of native code: values and what is done with them, accesses to memory, and routines that are called."""
