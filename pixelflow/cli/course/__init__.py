"""The course: examples to run, exercises to solve, solutions to grade."""
