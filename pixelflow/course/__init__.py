"""A course: six exercises from the first instruction to two streams, and what grades a solution."""

from pixelflow.course.exercises import EXERCISES, exercise_for
from pixelflow.course.grading import Grade, GradeReport, grade, not_graded
from pixelflow.course.task import TOUR, Exercise, Mistake, source_of

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
