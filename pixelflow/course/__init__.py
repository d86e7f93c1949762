"""A course: six exercises from the first instruction to two streams, and what grades a solution."""

from typing import TYPE_CHECKING

from pixelflow.simd.faces import on_first_use

if TYPE_CHECKING:
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

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "exercises": "EXERCISES TOUR Exercise Mistake exercise_for source_of",
        "grading": "Grade GradeReport grade not_graded",
    },
)
