"""What the structure of a program says: its batches, the bytes that it names, and what it must take."""
