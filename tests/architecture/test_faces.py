"""Has every package the names that it says it has, also where a file is imported only when somebody asks?"""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import file_of, imports, module_name, sources

ROOT = Path(__file__).resolve().parents[2]
FACES = [module_name(ROOT, path) for path in sources(ROOT) if path.name == "__init__.py"]
LATER = ("pixelflow.node", "tessellation")
"""Faces of many names, which are imported when somebody asks and listed before."""


@pytest.mark.parametrize("name", FACES)
def test_all_names_are_there(name: str) -> None:
    package = importlib.import_module(name)
    names = getattr(package, "__all__", ())
    for each in names:
        assert getattr(package, each) is not None
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", FACES)
def test_what_comes_later_is_what_the_type_checker_sees(name: str) -> None:
    """Files imported in another order give the same."""
    face = file_of(ROOT, name)
    assert face is not None
    package = importlib.import_module(name)
    for each in imports(ROOT, face):
        if each.checking and each.name and hasattr(package, "__getattr__"):
            assert getattr(package, each.bound) is getattr(importlib.import_module(each.module), each.name)


@pytest.mark.parametrize("name", LATER)
def test_they_are_listed_before_somebody_asks(name: str) -> None:
    """As completion in a notebook does, which looks at `dir`; a star import brings all of them."""
    code = f"import {name} as face\nassert {{*face.__all__, '__name__'}} <= {{*dir(face)}}\nfrom {name} import *\n"
    subprocess.run([sys.executable, "-c", f"{code}assert {{*face.__all__}} <= {{*globals()}}"], check=True)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'Nonesuch'"):
        _ = importlib.import_module(name).Nonesuch
