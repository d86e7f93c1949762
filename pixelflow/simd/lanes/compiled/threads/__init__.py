"""Threads that share the tiles of one engine, in native code."""
