"""The `.mc` language as data: source lines, values, expressions that evaluate themselves, statements."""
