"""From text to statements: tokens, lines, blocks, and where included files are found."""
