"""The core of every machine; it names none."""
