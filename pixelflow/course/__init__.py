"""A course: six exercises from the first instruction to two streams, and what grades a solution."""

from pixelflow.course.exercises import EXERCISES, TOUR, Exercise, Mistake, exercise_for, source_of
from pixelflow.course.grading import Grade, GradeReport, grade, not_graded

__all__ = [
    "EXERCISES",
    "TOUR",
    "Exercise",
    "Grade",
    "GradeReport",
    "Mistake",
    "exercise_for",
    "grade",
    "not_graded",
    "source_of",
]
