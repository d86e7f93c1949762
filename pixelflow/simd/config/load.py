"""Strict TOML: a file and ``-D key=value`` become a configuration, or one error that lists every fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from pixelflow.simd.config.locate import KeyIndex
from pixelflow.simd.config.param import Param, Value, leaf_faults, leaves, shorten
from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.files import CONFIGURATION, read_text
from pixelflow.simd.report import Json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    class Described(DataclassInstance, Protocol):
        """A configuration that says what it is: a hash and the values of all keys."""

        @property
        def sha256(self) -> str: ...

        @property
        def values(self) -> Mapping[str, Value]: ...


__all__ = ["ConfigFiles", "Effective"]


Config = TypeVar("Config", bound="DataclassInstance")
"""The class of a machine's configuration: a frozen dataclass of `param` values and of `section` groups."""


@dataclass(frozen=True, slots=True)
class Effective(Generic[Config]):
    """A configuration and where each of its values was set."""

    config: Config
    preset: str
    set_by: Mapping[str, str]
    """By dotted key: ``preset thesis``, ``file.toml:3`` or ``-D``."""

    @property
    def label(self) -> str:
        """The configuration as the first line of a report names it."""
        return f"config {self.preset} ({self._described.sha256[:6]})"

    def as_object(self) -> dict[str, Json]:
        """Return the configuration as the JSON of every report carries it."""
        described = self._described
        return {"preset": self.preset, "sha256": described.sha256, "values": described.values}

    @property
    def _described(self) -> Described:
        return cast("Described", self.config)


@dataclass(frozen=True, slots=True)
class _Setting:
    """One value that a user wrote, and where."""

    key: str
    value: object
    place: Place
    origin: str


class ConfigFiles(Generic[Config]):
    """The configuration files of one machine: what they may start from, and what they may change."""

    def __init__(self, presets: Mapping[str, Config]) -> None:
        """``presets`` are configurations by name; a file that names none starts from the first."""
        self.presets = presets
        self._default = next(iter(presets))

    def load(
        self,
        path: str | Path | None = None,
        overrides: Iterable[str] = (),
        preset: str | None = None,
        option: str = "-D",
    ) -> Config:
        """Return the configuration of ``path`` (or the preset alone), changed by ``overrides`` (``"key=value"``).

        ``preset`` wins over the one that the file names; without either it is the first. ``option`` is what overrides
        were given to, as faults name it. Raises InputError with every fault of the file and the overrides.
        """
        return self.load_effective(path, overrides, preset, option).config

    def load_effective(
        self,
        path: str | Path | None = None,
        overrides: Iterable[str] = (),
        preset: str | None = None,
        option: str = "-D",
    ) -> Effective[Config]:
        """Return the configuration together with where each value was set; see `load`."""
        faults: list[Fault] = []
        settings: list[_Setting] = []
        named = None if path is None else self._read_file(Path(path), settings, faults)
        preset = preset or named or self._default
        known = self._known()
        for text in overrides:
            _read_override(text, known, settings, faults, option)
        base = self.presets.get(preset)
        if base is None:
            faults.append(Fault(f"no preset has the name {shorten(preset)}", hint=_suggest(preset, self.presets)))
            raise InputError(faults)
        chosen = _check(settings, known, _sections(type(base)), faults)
        if not faults:
            faults = _combined_faults(base, chosen)
        if faults:
            raise InputError(faults)
        config = _changed(base, {key: setting.value for key, setting in chosen.items()})
        set_by = {key: chosen[key].origin if key in chosen else f"preset {preset}" for key, *_ in leaves(config)}
        return Effective(config, preset, set_by)

    def override_faults(self, text: str) -> list[Fault]:
        """Return what is wrong with one ``"key=value"`` by itself: unknown key, wrong type, out of range."""
        faults: list[Fault] = []
        settings: list[_Setting] = []
        _read_override(text, self._known(), settings, faults)
        _check(settings, self._known(), _sections(type(self.presets[self._default])), faults)
        return faults

    def _known(self) -> dict[str, tuple[Param, Value]]:
        """Return what is declared of every key, and its default."""
        return {key: (about, default) for key, about, _, default in leaves(self.presets[self._default])}

    def _read_file(self, path: Path, settings: list[_Setting], faults: list[Fault]) -> str | None:
        """Append the values of ``path``; return the preset that the file names, if it names one."""
        import tomllib

        text = read_text(path, CONFIGURATION)
        try:
            tables = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # ValueError: TOMLDecodeError and integers of 5000 digits
            raise InputError(_syntax_fault(path, text, error)) from None
        index = KeyIndex(str(path), text)
        named = tables.pop("preset", None)
        if named is not None and (not isinstance(named, str) or named not in self.presets):
            place = index.place("preset")
            word = named if isinstance(named, str) else ""
            message = f"preset: no preset has the name {shorten(named)}"
            faults.append(Fault(message, place, _suggest(word, self.presets)))
            named = None
        _flatten(tables, "", type(self.presets[self._default]), index, settings, faults)
        return named


def _syntax_fault(path: Path, text: str, error: Exception) -> Fault:
    if isinstance(error, RecursionError):
        return Fault("is nested too deeply to be a configuration file", Place(str(path)))
    found = re.search(r"^(.*) \(at line (\d+), column (\d+)\)$", str(error))
    if found is None:
        return Fault(f"is not valid TOML: {str(error)[:200]}", Place(str(path)))
    message, line, column = found[1], int(found[2]), int(found[3])
    lines = text.splitlines()
    source = lines[line - 1] if line <= len(lines) else None
    again = re.fullmatch(
        r"Cannot (?:declare|mutate immutable namespace|redefine namespace) \((.*)\)(?: twice)?", message
    )
    if again is not None:  # the reader shows a key as Python shows a tuple
        key = ".".join(re.findall(r"'([^']*)'", again[1]))
        message = f"[{_shown_key(key)}] is declared twice"
    elif message == "Cannot overwrite a value":
        message = "a name that has a value already is given one again"
    return Fault(f"is not valid TOML: {message}", Place(str(path), line, column, source))


def _flatten(
    table: dict[str, object],
    prefix: str,
    kind: type[DataclassInstance],
    index: KeyIndex,
    settings: list[_Setting],
    faults: list[Fault],
) -> None:
    """Turn nested tables into dotted keys; a section where a value belongs, and the reverse, are faults."""
    sections = _sections(kind)
    for name, value in table.items():
        key = f"{prefix}{name}"
        place = index.place(key)
        below = sections.get(name)
        if below is not None and isinstance(value, dict):
            _flatten(value, f"{key}.", below, index, settings, faults)
        elif below is not None:
            hint = f"write [{key}] and its values below it"
            faults.append(Fault(f"{key} is a section, found {shorten(value)}", place, hint))
        else:
            settings.append(_Setting(key, value, place, f"{place.file}:{place.line}" if place.line else place.file))


def _sections(kind: type[DataclassInstance]) -> dict[str, type[DataclassInstance]]:
    """Return the sections of a configuration class by name."""
    found: dict[str, type[DataclassInstance]] = {}
    for each in fields(kind):
        factory = each.default_factory
        if isinstance(factory, type) and is_dataclass(factory):
            found[each.name] = factory
    return found


def _read_override(
    text: str,
    known: Mapping[str, tuple[Param, Value]],
    settings: list[_Setting],
    faults: list[Fault],
    option: str = "-D",
) -> None:
    import tomllib

    place = Place(f"{option} {text if len(text) <= 60 else text[:57] + '...'}")
    key, equals, written = (part.strip() for part in text.partition("="))
    if not equals or not key or not written:
        first, (_, default) = next(iter(known.items()))
        shown = str(default).lower() if isinstance(default, bool) else default
        faults.append(Fault("expected key=value", place, f"example: {option} {first}={shown}"))
        return
    try:
        tables = tomllib.loads(f"value = {written}")
        value: object = tables["value"] if len(tables) == 1 else written
    except (ValueError, RecursionError):
        value = written  # a shell takes the quotes away: -D lee.arrangement=zero
    if key in known and isinstance(known[key][1], str) and not isinstance(value, str):
        value = written
    settings.append(_Setting(key, value, place, option))


def _check(
    settings: list[_Setting],
    known: Mapping[str, tuple[Param, Value]],
    sections: Iterable[str],
    faults: list[Fault],
) -> dict[str, _Setting]:
    """Return the settings by key, the later one winning; append a fault for each unknown key and wrong value."""
    chosen = {}
    for setting in settings:
        if setting.key not in known:
            kind = "section" if isinstance(setting.value, dict) else "key"
            message = f"unknown {kind} {_shown_key(setting.key)}"
            faults.append(Fault(message, setting.place, _nearest_key(setting, known, sections)))
            continue
        about, default = known[setting.key]
        found = leaf_faults(setting.key, about, setting.value, default, setting.place)
        faults.extend(found)
        if not found:
            chosen[setting.key] = setting
    return chosen


def _shown_key(key: str) -> str:
    """Return a key as a message shows it, at most 60 characters."""
    return key if len(key) <= 60 else key[:57] + "..."


def _nearest_key(setting: _Setting, known: Iterable[str], sections: Iterable[str]) -> str:
    section_name, _, leaf = setting.key.rpartition(".")
    if isinstance(setting.value, dict):
        return _suggest(setting.key, sections)
    same_leaf = [key for key in known if key.rpartition(".")[2] == leaf]
    if len(same_leaf) == 1:
        return f"did you mean {same_leaf[0]}?"
    inside = [key for key in known if key.rpartition(".")[0] == section_name]
    return _suggest(setting.key, inside) if nearest(setting.key, inside) else _suggest(setting.key, known)


def _suggest(word: str, allowed: Iterable[str]) -> str:
    allowed = list(allowed)
    found = nearest(word, allowed)
    if found:
        return f"did you mean {found}?"
    return f"known: {', '.join(allowed)}" if len(allowed) <= 8 else "see: pixelflow config show"


def _combined_faults(base: Config, chosen: Mapping[str, _Setting]) -> list[Fault]:
    """Check the combinations before the tree is built, so that each fault has the place of what the user wrote."""
    try:
        _changed(base, {key: setting.value for key, setting in chosen.items()})
    except InputError as error:
        return [_with_place(fault, chosen) for fault in error.faults]
    return []


def _with_place(fault: Fault, chosen: Mapping[str, _Setting]) -> Fault:
    """Give a combination fault the place of the setting that it names, or of another in that section."""
    named = [key for key in chosen if re.search(rf"\b{re.escape(key)}\b", fault.message)]
    section_name = fault.message.partition(".")[0]
    related = [key for key in chosen if key.partition(".")[0] == section_name]
    for key in named + related:
        return replace(fault, place=chosen[key].place)
    return fault


def _changed(base: Config, values: Mapping[str, object]) -> Config:
    """Return ``base`` with some values replaced; checked once, as a whole."""
    groups: dict[str, dict[str, object]] = {}
    top: dict[str, object] = {}
    for key, value in values.items():
        group, _, leaf = key.rpartition(".")
        if group:
            groups.setdefault(group, {})[leaf] = value
        else:
            top[leaf] = value
    for group, changes in groups.items():
        top[group] = replace(getattr(base, group), **changes)
    return replace(base, **top)
