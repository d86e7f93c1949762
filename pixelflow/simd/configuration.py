"""Configuration as a frozen tree of values with unit, source, standing and range, read from strict TOML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, Generic, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from pixelflow.simd.errors import Fault, InputError, InternalError, Place, nearest, suggestion
from pixelflow.simd.files import CONFIGURATION, read_text
from pixelflow.simd.report import Json
from pixelflow.simd.units import Constant, Standing

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# One configuration value: its default, and what a reader must know about it.
#
# ``param()`` makes a dataclass field whose metadata hold a :class:`Param`; validation, ``pixelflow config show`` and
# ``pixelflow about --model`` read those metadata, so a value is described in one place only.


type_names = {bool: "true or false", int: "a whole number", str: "a text in quotes"}

Group = TypeVar("Group")
Kind = TypeVar("Kind", bound="Value")
About = ParamSpec("About")

Value = int | bool | str
"""Types of a configuration value. There are no fractions: every quantity is a count."""


class PresetValue(NamedTuple):
    """A value that a preset sets in the place of the default, and how well founded it is."""

    value: Value
    standing: Standing
    source: str


@dataclass(frozen=True, slots=True)
class Param:
    """Declaration of one configuration value.

    ``low`` and ``high`` are inclusive; ``allowed`` lists the only values where there are few. ``read_by`` names the
    file that reads the value.
    """

    text: str
    unit: str
    source: str
    standing: Standing
    low: int | None = None
    high: int | None = None
    allowed: tuple[Value, ...] | None = None
    read_by: str | None = None
    because: str = ""
    """Why no other values are allowed, for the message about them."""
    matters: str = ""
    """The switch or kind of run without which it has no effect (``caches``, ``reads``, ``limit``); empty: none."""
    state: bool = False
    """True if the state that a run leaves depends on it, or whether a run ends; what is not is about time alone."""
    added: bool = False
    """True if machines of before had no such value: at its default it is then no part of a machine's fingerprint."""
    moved: tuple[Value, ...] = ()
    """Other values that a study tries, to say what a guess is worth; none for a limit."""
    presets: Mapping[str, PresetValue] = field(default_factory=dict)
    """Values set by presets, by their names, where they differ from the default."""

    def founded(self, value: Value, default: Value) -> tuple[Standing, str]:
        """Return how well founded a value is, and its source: the default's, a preset's, or that it was set."""
        if value == default:
            return self.standing, self.source
        for preset in self.presets.values():
            if value == preset.value:
                return preset.standing, preset.source
        return Standing.INVENTED, f"set; without, {str(default).lower()}: {self.source}"

    def range_text(self) -> str:
        """Return the permitted values in words."""
        if self.allowed is not None:
            return " or ".join(str(value) for value in self.allowed)
        if self.low is not None and self.high is not None:
            return f"{self.low} to {self.high}"
        return "any"


def _declared_by(kind: Callable[About, Param]) -> Callable[Concatenate[Kind, About], Kind]:
    """Return `param`: after the default it takes what ``kind`` does, with the same types."""

    def param(default: Kind, /, *args: About.args, **about: About.kwargs) -> Kind:
        """Return a dataclass field for one value; the rest is what :class:`Param` says of it."""
        return field(default=default, metadata={"param": kind(*args, **about)})

    return param


param = _declared_by(Param)


def section(kind: type[Group]) -> Group:
    """Return a dataclass field that holds a group of values with its defaults."""
    return field(default_factory=kind)


def leaves(config: DataclassInstance, prefix: str = "") -> Iterator[tuple[str, Param, Value, Value]]:
    """Yield (dotted key, param, value, default) for every value below ``config``, in declaration order."""
    for each in fields(config):
        value = getattr(config, each.name)
        if is_dataclass(value) and not isinstance(value, type):
            yield from leaves(value, f"{prefix}{each.name}.")
        else:
            yield f"{prefix}{each.name}", each.metadata["param"], value, default_of(each)


def default_of(declared: Field[Value]) -> Value:
    """Return the default of a field that `param` made."""
    if declared.default is MISSING:
        raise InternalError(f"{declared.name} was not declared by param()")
    return declared.default


def leaf_faults(key: str, known: Param, value: object, default: Value, place: Place | None = None) -> list[Fault]:
    """Return what is wrong with ``value``: its type (a boolean is not a number) or its range."""
    kind = type(default)
    if type(value) is not kind:
        found = shorten(value)
        message = f"{key}: expected {type_names[kind]}, found {found}"
        return [Fault(message, place, _allowed_hint(known))]
    if known.allowed is not None and value not in known.allowed:
        return [Fault(f"{key}: {shorten(value)} is not one of the allowed values", place, _allowed_hint(known))]
    too_low = isinstance(value, int) and known.low is not None and value < known.low
    too_high = isinstance(value, int) and known.high is not None and value > known.high
    if too_low or too_high:
        return [Fault(f"{key}: {shorten(value)} is out of range", place, _allowed_hint(known))]
    return []


def check_values(config: DataclassInstance) -> None:
    """Raise InputError with every value of a configuration that is of another type or out of its range."""
    faults = [fault for leaf in leaves(config) for fault in leaf_faults(*leaf)]
    if faults:
        raise InputError(faults)


def written_as(value: Json) -> str:
    """Return a value as a user writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def shorten(value: object) -> str:
    """Return ``value`` as a message shows it, at most 40 characters."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) > 10**30:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _allowed_hint(known: Param) -> str:
    unit = f" {known.unit}" if known.unit else ""
    because = f" ({known.because})" if known.because else ""
    return f"allowed: {known.range_text()}{unit}{because}"


# Values of a configuration as constants, each with its source and how well founded it is.


def constants_of(
    config: DataclassInstance, used: Callable[[str, Param], bool] = lambda key, about: True, prefix: str = ""
) -> tuple[Constant, ...]:
    """Return the values of a configuration that are ``used`` as constants, each key after ``prefix``.

    A value that neither the model nor a preset gives was set by hand: it has no source, whatever the default's is.
    """
    return tuple(
        Constant(prefix + key, value, *about.founded(value, default), about.text, about.unit)
        for key, about, value, default in leaves(config)
        if used(key, about)
    )


def named(keys: Collection[str]) -> Callable[[str, Param], bool]:
    """Return what uses the values of these keys."""
    return lambda key, about: key in keys


# Finds the line of a key in TOML text, so that a fault about a value can show where it was written.
#
# ``tomllib`` gives values without positions. This reads headers and ``key =`` at the start of lines only; a key that
# it cannot find (inside an inline table, or in quotes) gets the place of its section, or of the file.


_HEADER = re.compile(r"^\s*\[\[?\s*([A-Za-z0-9_.\-\s\"']+?)\s*\]\]?\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"^(\s*)([A-Za-z0-9_\-.\"' ]+?)\s*=")


class KeyIndex:
    """The places of the keys of one TOML text; below ``[[name]]`` they have its number: ``name.1.key``."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._places: dict[str, Place] = {}
        prefix = ""
        times: Counter[str] = Counter()
        for number, line in enumerate(text.splitlines(), start=1):
            header = _HEADER.match(line)
            if header:
                name = _plain(header[1])
                if line.lstrip().startswith("[["):
                    self._remember(name, number, line.index("[") + 1, line, len(line.strip()))
                    times[name] += 1
                    name = f"{name}.{times[name]}"
                self._remember(name, number, line.index("[") + 1, line, len(line.strip()))
                prefix = f"{name}."
                continue
            assignment = _ASSIGNMENT.match(line)
            if assignment:
                written = assignment[2]
                self._remember(prefix + _plain(written), number, len(assignment[1]) + 1, line, len(written))

    def place(self, key: str) -> Place:
        """Return the place of ``key``, else of the nearest section around it, else of the file."""
        while key:
            if key in self._places:
                return self._places[key]
            key = key.rpartition(".")[0]
        return Place(self._file)

    def _remember(self, key: str, line: int, column: int, text: str, length: int) -> None:
        shown = text if len(text) <= 160 else text[:157] + "..."
        self._places.setdefault(key, Place(self._file, line, column, shown, length))


def _plain(key: str) -> str:
    """Return a dotted key without quotes and spaces."""
    return ".".join(part.strip().strip("\"'") for part in key.split("."))


# Strict TOML: a file and ``-D key=value`` become a configuration, or one error that lists every fault.


if TYPE_CHECKING:

    class Described(DataclassInstance, Protocol):
        """A configuration that says what it is: a hash and the values of all keys."""

        @property
        def sha256(self) -> str: ...

        @property
        def values(self) -> Mapping[str, Value]: ...


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


class _Setting(NamedTuple):
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

    def load_effective(
        self,
        path: str | Path | None = None,
        overrides: Iterable[str] = (),
        preset: str | None = None,
        option: str = "-D",
    ) -> Effective[Config]:
        """Return the configuration of ``path`` (or the preset alone), changed by ``overrides`` (``"key=value"``).

        ``preset`` wins over the one that the file names; without either it is the first. ``option`` is what overrides
        were given to, as faults name it. Raises InputError with every fault of the file and the overrides.
        """
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
        if faults:
            raise InputError(faults)
        config = _changed(base, chosen)
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
        faults.append(Fault("expected key=value", place, f"example: {option} {first}={written_as(default)}"))
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


def _nearest_key(setting: _Setting, known: Iterable[str], sections: Iterable[str]) -> str | None:
    section_name, _, leaf = setting.key.rpartition(".")
    if isinstance(setting.value, dict):
        return _suggest(setting.key, sections)
    same_leaf = [key for key in known if key.rpartition(".")[2] == leaf]
    if len(same_leaf) == 1:
        return f"did you mean {same_leaf[0]}?"
    inside = [key for key in known if key.rpartition(".")[0] == section_name]
    return _suggest(setting.key, inside) if nearest(setting.key, inside) else _suggest(setting.key, known)


def _suggest(word: str, allowed: Iterable[str]) -> str | None:
    allowed = list(allowed)
    known = f"known: {', '.join(allowed)}" if len(allowed) <= 8 else "see: pixelflow config show"
    return suggestion(word, allowed, known)


def _with_place(fault: Fault, chosen: Mapping[str, _Setting]) -> Fault:
    """Give a combination fault the place of the setting that it names, or of another in that section."""
    named = [key for key in chosen if re.search(rf"\b{re.escape(key)}\b", fault.message)]
    section_name = fault.message.partition(".")[0]
    related = [key for key in chosen if key.partition(".")[0] == section_name]
    for key in named + related:
        return fault._replace(place=chosen[key].place)
    return fault


def _changed(base: Config, chosen: Mapping[str, _Setting]) -> Config:
    """Return ``base`` with some values replaced; checked once, as a whole, faults at the places of what is set."""
    groups: dict[str, dict[str, object]] = {"": {}}
    for key, setting in chosen.items():
        group, _, leaf = key.rpartition(".")
        groups.setdefault(group, {})[leaf] = setting.value
    try:
        top = groups.pop("")
        return replace(base, **top, **{name: replace(getattr(base, name), **new) for name, new in groups.items()})
    except InputError as error:
        raise InputError(_with_place(fault, chosen) for fault in error.faults) from None


# The configuration file as a JSON Schema (draft 2020-12), derived from the declarations.
#
# An editor that knows JSON Schema for TOML completes and checks a file with it. It says everything that holds for a
# value by itself; combinations of values are checked when a file is loaded. JSON Schema counts
# ``4.0`` as an integer, a configuration file does not.


DRAFT = "https://json-schema.org/draft/2020-12/schema"

_TYPES = {bool: "boolean", int: "integer", str: "string"}


def json_schema(presets: Mapping[str, DataclassInstance], title: str) -> dict[str, object]:
    """Return the schema of a configuration file that may start from one of some presets, all of one class.

    Unit, standing and source of a value are ``x-`` annotations.
    """
    default = next(iter(presets))
    preset = {"description": "what the file starts from", "enum": list(presets), "default": default}
    return {"$schema": DRAFT, "title": title, **_section(type(presets[default]), {"preset": preset})}


def _section(kind: type[DataclassInstance], first: Mapping[str, object]) -> dict[str, object]:
    properties = dict(first)
    for each in fields(kind):
        factory = each.default_factory
        if isinstance(factory, type) and is_dataclass(factory):
            about = (factory.__doc__ or "").partition("\n")[0]
            properties[each.name] = {"description": about, **_section(factory, {})}
        else:
            properties[each.name] = _value(each.metadata["param"], default_of(each))
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _value(known: Param, default: int | bool | str) -> dict[str, object]:
    found: dict[str, object] = {
        "description": f"{known.text} ({known.unit})" if known.unit else known.text,
        "type": _TYPES[type(default)],
        "default": default,
        "x-unit": known.unit,
        "x-standing": known.standing.value,
        "x-source": known.source,
    }
    if known.allowed is not None:
        found["enum"] = list(known.allowed)
    if known.low is not None:
        found["minimum"] = known.low
    if known.high is not None:
        found["maximum"] = known.high
    return found
