"""Watching: claims of the paper on ATTILA: its tables and its case study, and what measures them by running scenes."""
