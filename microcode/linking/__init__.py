"""Code under construction: operands, sections, memory, and the linker that makes a program of them."""
