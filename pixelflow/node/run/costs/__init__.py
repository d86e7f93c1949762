"""Costs of instructions to their stream besides the declared steps: an ability that is missing, words on their way."""
