"""Hooks of the documents site: what it includes, pictures that commands make, pages of the reference, links.

Nothing is copied: tutorial and the READMEs of rooms are pages where they lie in the repository, so that
their links lead to the same places. A comment `<!-- made: COMMAND -->` in a page of `pages/` is carried out while the
site is built, and replaced by the command and what it wrote; pictures between `<!-- in motion -->` and `<!-- end -->`
are shown one after the other in one place. A link to a file that is no page becomes plain text.
"""

from __future__ import annotations

import contextlib
import hashlib
import html
import io
import json
import logging
import posixpath
import re
import shlex
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from pixelflow.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = Path(__file__).parent / "pages"
_DOCUMENTS = ("TUTORIAL.md", "CONTRIBUTING.md", "CHANGELOG.md")
_ROOMS = ("pixelflow", "microcode", "tessellation", "larrabee_bridge", "gen6_bridge", "attila_bridge", "pim_kernels")
_MADE = re.compile(r"^<!-- made: (pixelflow [^\n]*) -->$", re.MULTILINE)
_MOTION = re.compile(r"^<!-- in motion -->\n(.*?)^<!-- end -->$", re.DOTALL | re.MULTILINE)
_FENCED = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_FIGURE = re.compile(r"<figure[^>]*><div[^>]*><svg.*?</figure>", re.DOTALL)
_OWN = "docs/pages"
_PICTURES = (".png", ".svg")
_FRAME_SECONDS = 0.8

_PLAYGROUND = Path(__file__).parent / "playground"
_PYODIDE = _PLAYGROUND / "node_modules" / "pyodide"
_CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip")
_SHIPPED = (".py", ".mc", ".md", ".toml")
_log = logging.getLogger("mkdocs.hooks")

_folder = tempfile.TemporaryDirectory(prefix="pixelflow-site-")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give the playground its place in the navigation, if its files are there."""
    if (reason := playground_lacks()) is None:
        assert config.nav is not None
        config.nav.insert(1, {"Try it here": "playground.md"})
    else:
        _log.info("the site has no playground: %s", reason)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents of the repository, what commands make, and the pages of the reference."""
    for place in documents():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / place)))
    for picture in sorted((ROOT / "docs").glob("*.png")):
        files.append(File.generated(config, f"docs/{picture.name}", abs_src_path=str(picture)))
    for page in sorted(PAGES.rglob("*.md")):
        for command in commands_in(page.read_text(encoding="utf-8")):
            carry_out(command)
            for name in written_by(command):
                if files.get_file_from_path(f"made/{name}") is None:
                    files.append(File.generated(config, f"made/{name}", abs_src_path=str(Path(_folder.name) / name)))
    if playground_lacks() is None:
        for name, content in playground_files().items():
            files.append(File.generated(config, name, content=content))
    for name in _faces(config.nav or []):
        files.append(File.generated(config, f"reference/{name}.md", content=f"# {name}\n\n::: {name}\n"))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put what commands made into a page, and take links away that lead to no page."""
    markdown = _MOTION.sub(lambda found: _in_motion(commands_in(found[1])), markdown)
    markdown = _MADE.sub(lambda found: _shown(found[1]), markdown)
    parts = _FENCED.split(markdown)
    return "".join(part if at % 2 else _with_links(part, page.file.src_uri, files) for at, part in enumerate(parts))


def playground_lacks() -> str | None:
    """Return what the playground needs and has not; None where it can be built.

    ``npm install --prefix docs/playground`` brings Pyodide, without numpy. The wheel of its release, which the lock
    file names, belongs next to that file, and must have the hash in it.
    """
    if not (_PYODIDE / _CORE[3]).exists():
        return "npm install --prefix docs/playground was not done"
    wheel = _numpy()
    path = _PYODIDE / wheel["file_name"]
    if not path.exists():
        return f"{path.relative_to(ROOT)} is not there; Pyodide's release has it"
    if hashlib.sha256(path.read_bytes()).hexdigest() != wheel["sha256"]:
        return f"{path.relative_to(ROOT)} is not the file that the lock file names"
    return None


def _numpy() -> dict[str, str]:
    found: dict[str, str] = json.loads((_PYODIDE / _CORE[3]).read_text(encoding="utf-8"))["packages"]["numpy"]
    return found


def playground_own_files() -> dict[str, str | bytes]:
    """Return the page, its scripts and the examples, by place in the site."""
    examples = {
        path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "microcode/examples").glob("*.mc"))
    }
    page = (_PLAYGROUND / "page.md").read_text(encoding="utf-8")
    options = "".join(f"<option{' selected' * (name == 'mandelbrot')}>{name}</option>" for name in examples)
    page = page.replace("<!-- examples -->", options).replace("<!-- first -->", html.escape(examples["mandelbrot"]))
    return {
        "playground.md": page,
        **{f"playground/{name}.mc": text for name, text in examples.items()},
        **{f"playground/{name}": (_PLAYGROUND / name).read_bytes() for name in ("page.js", "worker.js")},
    }


def playground_files() -> dict[str, str | bytes]:
    """Return all that the playground loads, by place in the site."""
    numpy = _numpy()["file_name"]
    archives = [[numpy, "wheel"], ["simulator.zip", "zip"]]
    return {
        **playground_own_files(),
        "playground/files.json": json.dumps({"archives": archives}),
        "playground/simulator.zip": simulator(),
        **{f"playground/{name}": (_PYODIDE / name).read_bytes() for name in (*_CORE, numpy)},
    }


def simulator() -> bytes:
    """Return an archive of the packages that run microcode, and of the playground's driver."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(_PLAYGROUND / "driver.py", "driver.py")
        for package in ("pixelflow", "microcode", "tessellation"):
            for path in sorted((ROOT / package).rglob("*")):
                if path.suffix in _SHIPPED:
                    archive.write(path, path.relative_to(ROOT))
    return out.getvalue()


def documents() -> Iterator[str]:
    """Yield the places of all documents that the site includes, from the root."""
    yield from _DOCUMENTS
    for room in _ROOMS:
        yield from (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / room).rglob("*.md")))


def commands_in(text: str) -> list[str]:
    """Return the commands that a page has carried out."""
    return _MADE.findall(text)


def written_by(command: str) -> list[str]:
    """Return the files of a command that a page shows."""
    return [word for word in shlex.split(command) if word.endswith((*_PICTURES, ".html"))]


def carry_out(command: str) -> None:
    """Carry a command out in the folder of the pictures; raises PluginError where it fails."""
    told = io.StringIO()
    with contextlib.chdir(_folder.name), contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        code = main(shlex.split(command)[1:])
    if code:
        raise PluginError(f"{command}: exit code {code}\n{told.getvalue()}")


def _shown(command: str) -> str:
    """Return a command as a page shows it, with its pictures, and a link to its report."""
    lines = ["```sh", command, "```", ""]
    for name in written_by(command):
        if name.endswith(_PICTURES):
            lines += [f"[![{command}](made/{name})](made/{name})", ""]  # a click shows it in its own size
        else:
            drawn = _FIGURE.findall((Path(_folder.name) / name).read_text(encoding="utf-8"))
            lines += [*drawn, "", f"[The whole report as a page](made/{name})", ""]
    return "\n".join(lines)


def _in_motion(commands: list[str]) -> str:
    """Return what shows the pictures of several commands one after the other; all at once where motion is unwanted."""
    names = [name for command in commands for name in written_by(command)]
    first, seconds = names[0], _FRAME_SECONDS * len(names)
    frames = [
        f'<img src="made/{name}" alt="{commands[0]}, frame {at + 1}" style="animation-delay: {at * _FRAME_SECONDS:g}s">'
        for at, name in enumerate(names)
    ]
    css = f"""@media (prefers-reduced-motion: no-preference) {{
  .motion {{ position: relative; }}
  .motion img {{ opacity: 0; animation: frame {seconds:g}s step-end infinite; }}
  .motion img:not([src="made/{first}"]) {{ position: absolute; inset: 0; }}
  @keyframes frame {{ 0% {{ opacity: 1; }} {100 / len(names):.3f}% {{ opacity: 0; }} }}
}}"""
    shell = ["```sh", *commands, "```", ""]
    return "\n".join([*shell, "<style>", css, "</style>", '<div class="motion">', *frames, "</div>", ""])


def _with_links(text: str, place: str, files: Files) -> str:
    known = set(documents())

    def kept(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        path, hash_sign, anchor = target.partition("#")
        if "://" in target or not path:
            return found[0]
        begin = posixpath.dirname(place if place in known else f"{_OWN}/{place}")
        whole = posixpath.normpath(posixpath.join(begin, path)).removeprefix(f"{_OWN}/")
        for each in (whole, f"{whole}/README.md"):
            if files.get_file_from_path(each) is not None:
                near = posixpath.relpath(each, posixpath.dirname(place) or ".")
                return f"{picture}[{words}]({near}{hash_sign}{anchor})"
        return words

    return _LINK.sub(kept, text)


def _faces(nav: object) -> Iterator[str]:
    """Yield the packages that the navigation has a page of reference for."""
    if isinstance(nav, dict):
        for value in nav.values():
            yield from _faces(value)
    elif isinstance(nav, list):
        for each in nav:
            yield from _faces(each)
    elif isinstance(nav, str) and nav.startswith("reference/"):
        yield nav.removeprefix("reference/").removesuffix(".md")
