"""Values of a configuration as constants, each with its source and how well founded it is."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from pixelflow.simd.config.param import Param, leaves
from pixelflow.simd.units import Constant, Standing

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["constants_of", "named"]


def constants_of(
    config: DataclassInstance, used: Callable[[str, Param], bool] = lambda key, about: True, prefix: str = ""
) -> tuple[Constant, ...]:
    """Return the values of a configuration that are ``used`` as constants, each key after ``prefix``.

    A value that is not the model's own was set by somebody: no source gives it, whatever that of the default is.
    """
    found = []
    for key, about, value, default in leaves(config):
        if used(key, about):
            own = value == default
            standing = about.standing if own else Standing.INVENTED
            source = about.source if own else f"set; without, {str(default).lower()}: {about.source}"
            found.append(Constant(prefix + key, value, standing, source, about.text, about.unit))
    return tuple(found)


def named(keys: Collection[str]) -> Callable[[str, Param], bool]:
    """Return what uses the values of these keys."""
    return lambda key, about: key in keys
