"""Hyperparameters of a method: declared with bounds and search spaces, made from named values, checked when they are made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from seqsearch.backbones.open import own_presets
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item
from seqsearch.core.limits import out_of_bounds
from seqsearch.core.registry import user_code
from seqsearch.core.text import did_you_mean
from seqsearch.core.typed import LARGEST, brief


@dataclass(frozen=True)
class LogUniform:
    """Values between two positive bounds whose logarithms are equally likely."""

    low: float
    high: float


def param(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[Any, ...] | None = None,
    search: LogUniform | tuple[Any, ...] | None = None,
    embedded: Any = None,
    embedded_search: LogUniform | tuple[Any, ...] | None = None,
    scratch: Any = None,
    scratch_search: LogUniform | tuple[Any, ...] | None = None,
    tiny: Any = None,
    tiny_search: LogUniform | tuple[Any, ...] | None = None,
    later: bool = False,
) -> Any:
    """A hyperparameter of a `Config`: its default, one line of help, its bounds (both inclusive), and where to tune it.

    ``search`` is what ``--tune-tasks`` draws from: a range, or a list of values; without it the parameter is not tuned.
    ``embedded`` and ``embedded_search`` take the place of default and search on the embedded backbone, whose few blocks and
    16 images per class want other rates than the published ones. ``scratch`` and ``scratch_search`` hold for networks that
    begin from scratch, ``tiny`` and ``tiny_search`` on ``scratch:tiny``, the small one for tests, and on the embedded backbone
    unless ``embedded`` is given. An own backbone says which of them hold (``presets``).
    ``later`` says that it acts from the second task on only, in learning and in predicting: settings that differ in such
    parameters alone share the training of the first (a conformance test holds every method to it).
    """
    known = {
        "help": help, "minimum": minimum, "maximum": maximum, "choices": choices, "search": search, "embedded": embedded,
        "embedded_search": embedded_search, "scratch": scratch, "scratch_search": scratch_search, "tiny": tiny,
        "tiny_search": tiny_search, "later": later,
    }  # fmt: skip
    return field(default=default, metadata=known)


class Conflict(UserError):
    """Two parameters do not go together; each may be fine with another."""


@dataclass(frozen=True)
class Config:
    """Base of every method's hyperparameters. Values are checked against their bounds, then by `check`, when it is made.

    Raises:
        UserError: a value is out of bounds, not among its choices, or does not fit another.
    """

    def __post_init__(self) -> None:
        for f in dataclasses.fields(self):
            value, choices = getattr(self, f.name), f.metadata.get("choices")
            if isinstance(value, float) and not math.isfinite(value):
                raise UserError(f"{f.name}={value}: must be finite")
            if wrong := out_of_bounds(value, *bounds_of(f)):
                raise UserError(f"{f.name}={brief(value)}: {wrong}")
            if choices is not None and value not in choices:
                raise UserError(f"{f.name}={value}: must be one of {', '.join(map(str, choices))}")
        self.check()

    def check(self) -> None:
        """Rules between parameters, for subclasses: raise `Conflict` naming both, as ``top_k=9: must be at most size=5``."""

    def without_effect(self) -> tuple[str, ...]:
        """Parameters that do nothing while the others are as they are, for subclasses; `seqsearch check` does not test these."""
        return ()


def bounds_of(parameter: dataclasses.Field[Any]) -> tuple[float | None, float | None]:
    """Least and greatest value of a parameter; a whole number fits into 64 bits in any case."""
    low, high = parameter.metadata.get("minimum"), parameter.metadata.get("maximum")
    if isinstance(parameter.default, int):
        return (-LARGEST if low is None else low), (LARGEST if high is None else high)
    return low, high


def acts_in_first(config: Config) -> dict[str, Any]:
    """The parameters, by name, that decide how the first task is learned."""
    return {f.name: getattr(config, f.name) for f in dataclasses.fields(config) if not f.metadata.get("later")}


class Configurable(Protocol):
    """A class with hyperparameters, as every method is."""

    Config: ClassVar[type[Config]]


EMBEDDED = ("glyph_vit", "plain_vit", "glyph_flava")
"""The backbones for which a parameter's ``embedded`` values hold."""
SCRATCH, TINY = "scratch:", "scratch:tiny"
"""How the names of backbones of ours begin for which ``scratch`` and ``tiny`` values hold."""


def default_of(spec: dataclasses.Field[Any], backbone: str) -> Any:
    """Default of a parameter with a backbone, which is given by name."""
    return next((found for name in _presets(backbone) if (found := spec.metadata.get(name)) is not None), spec.default)


def space_of(spec: dataclasses.Field[Any], backbone: str) -> LogUniform | tuple[Any, ...] | None:
    """Search space of a parameter with a backbone; None if it is not tuned."""
    names = [f"{name}_search" for name in _presets(backbone)] + ["search"]
    return next((found for name in names if (found := spec.metadata.get(name)) is not None), None)


def _presets(backbone: str) -> tuple[str, ...]:
    """Which values of a parameter hold with a backbone, those that go before others first."""
    if backbone in EMBEDDED:
        return "embedded", "tiny"
    if backbone.startswith(SCRATCH):
        return ("tiny", "scratch") if backbone.startswith(TINY) else ("scratch",)
    if ":" not in backbone:
        return ()
    return own_presets(backbone)


def build_config(
    kind: type[Configurable], params: Mapping[str, str | int | float | bool], backbone: str = ""
) -> Config:
    """Make ``kind.Config`` from named values, converting strings to each field's type.

    Args:
        kind: the method.
        params: values that were given; the others get their defaults.
        backbone: name of the backbone, which may have defaults of its own.

    Raises:
        UserError: unknown name, value of the wrong type or out of bounds.
    """
    fields = {f.name: f for f in dataclasses.fields(kind.Config)}
    values: dict[str, Any] = {name: default_of(f, backbone) for name, f in fields.items()}
    for name, raw in params.items():
        if name not in fields:
            known, meant = ", ".join(fields) or "none", did_you_mean(name, fields)
            raise UserError(f"no parameter {name!r}; {meant}it has: {known}")
        values[name] = _convert(name, raw, fields[name].default)
    return kind.Config(**values)


def config_of(build: type[Configurable], item: Item, backbone: str) -> Config:
    """The config that a method's item asks for.

    Raises:
        UserError: as `build_config`, with the item named.
    """
    try:
        with user_code("its parameters cannot be checked"):
            return build_config(build, dict(item.params), backbone)
    except UserError as error:
        kind = getattr(build, "kind", "method")
        raise UserError(f"{kind} {item.text!r}: {error}{_misplaced(item)}") from None


def _misplaced(item: Item) -> str:
    """Return a hint if a backbone was taken for a part of a parameter, as in ``wa:lr=1@scratch:tiny``; else an empty
    text."""
    for name, value in item.params:
        own, at, backbone = str(value).partition("@")
        if at and backbone:
            params = ",".join(f"{n}={own if n == name else v}" for n, v in item.params)
            return f"; a backbone stands before the parameters: {item.target}@{backbone}:{params}"
    return ""


KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
"""Of values, in words."""


def _convert(name: str, raw: Any, default: Any) -> Any:
    try:
        if isinstance(default, bool):
            if str(raw).lower() in ("true", "yes", "1", "false", "no", "0"):
                return str(raw).lower() in ("true", "yes", "1")
            raise ValueError
        if isinstance(raw, bool) and not isinstance(default, str):
            raise ValueError
        if isinstance(default, int):
            number = float(raw)
            if number != int(number):
                raise ValueError
            return int(number)
        return float(raw) if isinstance(default, float) else str(raw)
    except (ValueError, OverflowError):
        raise UserError(f"{name}={raw}: must be {KINDS[type(default)]}") from None
