"""Has every package the names that it says it has, also where a file is imported only when somebody asks?"""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

PACKAGES = ("microcode", "pixelflow.config", "pixelflow.isa", "pixelflow.node", "pixelflow.observe", "tessellation")
LATER = {"pixelflow.node": "_LATER", "tessellation": "_FILES"}


@pytest.mark.parametrize("name", PACKAGES)
def test_all_names_are_there(name: str) -> None:
    package = importlib.import_module(name)
    for each in package.__all__:
        assert getattr(package, each) is not None
    assert len(set(package.__all__)) == len(package.__all__)


@pytest.mark.parametrize(("name", "table"), LATER.items())
def test_what_comes_later_is_public_and_from_its_file(name: str, table: str) -> None:
    package = importlib.import_module(name)
    files = getattr(package, table)
    assert set(files) <= set(package.__all__)
    for each, file in files.items():
        assert getattr(package, each) is getattr(importlib.import_module(f"{name}.{file}"), each)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'Nonesuch'"):
        _ = package.Nonesuch


@pytest.mark.parametrize("name", LATER)
def test_a_star_import_brings_all_of_them(name: str) -> None:
    code = f"import {name} as face\nfrom {name} import *\nassert set(face.__all__) <= set(globals())"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", LATER)
def test_they_are_listed_before_somebody_asks(name: str) -> None:
    """As completion in a notebook does, which looks at `dir`."""
    code = f"import {name} as face\nassert set(face.__all__) <= set(dir(face)) and '__name__' in dir(face)"
    subprocess.run([sys.executable, "-c", code], check=True)
