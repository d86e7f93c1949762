"""Commands that draw: scenes and their pictures on the machines."""
