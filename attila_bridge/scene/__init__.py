"""Meaning: scenes of the form `attila-scene/1`, with buffers, textures by formula, programs and draws."""
