"""The command line's own parts: registry, parser, screen, output files, what commands say about machine and program."""
