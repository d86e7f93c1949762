"""Watching: claims of the paper on ATTILA, its tables and its case study, measured by running scenes."""
