"""Watching: what Kanter's article of 2011 says of the front end and the registers, and their measures."""
