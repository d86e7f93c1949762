"""Turns (time): one core, cycle by cycle, as plain functions over an image of it."""
