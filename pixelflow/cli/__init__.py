"""The command line: the composition root, the only place that may import all four packages.

Each command is a file with ``add_arguments(parser)`` and ``run(args) -> int``; :mod:`pixelflow.cli.shell.registry` names
them, and :mod:`pixelflow.cli.main` imports the one that was asked for.
"""
