"""From statements to code: scopes, macros, repeats and conditions, run in order."""
