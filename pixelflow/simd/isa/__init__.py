"""Instructions as data: how they are declared, encoded and kept in a program. Every machine brings its own set."""
