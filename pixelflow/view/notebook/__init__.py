"""The run explorer in a notebook."""
