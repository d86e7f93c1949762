"""The command line: the composition root, the only place that may import all four packages.

Each command is a file with ``add_arguments(parser)`` and ``run(args, screen) -> Report``; the registry names them, and
`main` imports the one that was asked for.
"""
