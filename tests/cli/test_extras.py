"""Does a missing library come with the command that works where this was installed from?"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from pixelflow.simd.errors import MissingPackageError, install_command

ROOT = Path(__file__).parents[2]
NAMED = "pip install 'pixelflow-sim[view]'"


def installed(folder: Path, record: object = None) -> Path:
    """Make what pip leaves beside packages, with the record of PEP 610 where one is given."""
    about = folder / "pixelflow_sim-9.9.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pixelflow-sim\nVersion: 9.9\n")
    if record is not None:
        (about / "direct_url.json").write_text(json.dumps(record))
    return folder


def test_packages_of_an_index_come_from_there(tmp_path: Path) -> None:
    assert install_command("view", tmp_path / "nothing") == NAMED
    assert install_command("view", installed(tmp_path / "site")) == NAMED


def test_a_checkout_is_installed_as_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the shortest name of its folder; packages in another place are copies of it."""
    checkout = tmp_path / "a checkout"
    checkout.mkdir()
    copied = installed(tmp_path / "site", {"url": checkout.as_uri(), "dir_info": {}})
    assert install_command("view", copied) == NAMED, "it has gone since"
    (checkout / "pyproject.toml").touch()
    whole = str(checkout) + "[view]"
    assert shlex.split(install_command("view", copied)) == ["pip", "install", whole]
    assert shlex.split(install_command("view", checkout)) == ["pip", "install", "-e", whole]
    monkeypatch.chdir(checkout)
    assert install_command("view", copied).split()[2:] == ["'.[view]'"]
    assert install_command("view", checkout).split()[2:] == ["-e", "'.[view]'"]


@pytest.mark.parametrize(
    "record, requirement",
    [
        (
            {"url": "file:///tmp/p.whl", "archive_info": {"hash": "sha256=0"}},
            "pixelflow-sim[plot] @ file:///tmp/p.whl",
        ),
        (
            {"url": "https://example.org/p.git", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}},
            "pixelflow-sim[plot] @ git+https://example.org/p.git@0a1b",
        ),
    ],
    ids=["archive", "repository"],
)  # fmt: skip
def test_archives_and_repositories_are_named_again(tmp_path: Path, record: object, requirement: str) -> None:
    found = install_command("plot", installed(tmp_path / "site", record))
    assert shlex.split(found) == ["pip", "install", requirement]


def test_a_missing_package_says_so() -> None:
    assert str(MissingPackageError("a page needs x", "view")).splitlines()[1].strip() == install_command("view")
