"""The recorded form of a meaning, and its interpreter in numpy."""

from pixelflow.simd.lanes.form.steps import COORDINATES, Form, FormStep, Op, Part, form_of, places_of, record

__all__ = ["COORDINATES", "Form", "FormStep", "Op", "Part", "form_of", "places_of", "record"]
