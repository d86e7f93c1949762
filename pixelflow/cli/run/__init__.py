"""Commands that run something: programs, assembler, tessellations."""
