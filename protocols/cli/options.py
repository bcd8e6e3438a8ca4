"""Command-line options made from a settings record: same names as its fields, as the YAML keys and as ``config.json``."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import yaml

from protocols.cli.completion import OF_SETTINGS
from protocols.cli.grouped import grouped_option, other_place
from protocols.cli.types import Choice, Measured, Number, Whole, WholeOrText
from seqsearch.core.limits import wrong_text
from seqsearch.core.settings import flag
from seqsearch.core.typed import brief, fits
from seqsearch.core.yaml_file import read_plain

LARGEST = 1 << 16
"""Bytes of a YAML file."""
DEEPEST = 4
"""Lists and mappings within each other in it; settings need two."""

Command = Callable[..., Any]


def settings_options(record: type) -> Callable[[Command], Command]:
    """Decorate a command with one option for each field of ``record`` that is not hidden."""
    hints = typing.get_type_hints(record)

    def decorate(command: Command) -> Command:
        for f in reversed([f for f in dataclasses.fields(record) if not f.metadata.get("hidden")]):
            command = option_of(f, hints[f.name])(command)
        return command

    return decorate


def option_of(f: dataclasses.Field[Any], kind: Any, **more: Any) -> Callable[[Command], Command]:
    """The option of a `seqsearch.core.settings.setting` that is annotated as ``kind``."""
    shown = f.default not in ("", False, ())
    option = partial(
        grouped_option,
        group=f.metadata["group"],
        help=f.metadata["help"],
        shell_complete=OF_SETTINGS[f.metadata["names"]],
        **more,
    )
    if typing.get_origin(kind) is tuple:
        return option(flag(f.name), multiple=True)
    if typing.get_origin(kind) is typing.Literal:
        return option(flag(f.name), type=Choice(typing.get_args(kind)), default=f.default, show_default=shown)
    if kind is bool and f.default:
        return option(f"{flag(f.name)}/--no-{f.name}", default=True, show_default=True)
    if kind is bool:
        return option(flag(f.name), is_flag=True, default=False)
    if set(typing.get_args(kind)) == {bool, type(None)}:
        off = f.metadata["off"]
        return option(f"{flag(f.name)}/--no-{f.name}", *([f" /{off}"] if off else []), default=None)
    return option(flag(f.name), type=type_of(f, kind), default=f.default, show_default=shown)


def type_of(f: dataclasses.Field[Any], kind: Any) -> Any:
    """The type of the option of a field that is annotated as ``kind``: of numbers, with their bounds."""
    if {int, str} == set(typing.get_args(kind)):
        return WholeOrText(f.metadata["minimum"], f.metadata["maximum"])
    kind = next((k for k in typing.get_args(kind) if k is not type(None)), kind)
    bounded = {int: Whole, float: Number}.get(kind)
    return bounded(f.metadata["minimum"], f.metadata["maximum"]) if bounded else kind


def read_yaml(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """Callback of ``--config``: the file's keys become defaults of the options of the same name.

    Raises:
        click.BadParameter: not a mapping, or a key that is no option.
    """
    if value is None:
        return None
    try:
        content = read_plain(value, LARGEST, DEEPEST)
    except (OSError, yaml.YAMLError, ValueError) as error:  # ValueError: no UTF-8, no such date, too many digits
        raise click.BadParameter(f"{value} cannot be read as YAML: {' '.join(str(error).split())[:300]}") from None
    if not isinstance(content, dict):
        raise click.BadParameter(f"{value} must hold `option: value` lines")
    options = {p.name: p for p in context.command.params if isinstance(p, click.Option) and p.name != parameter.name}
    defaults = {}
    for key, raw in content.items():
        name = str(key).replace("-", "_")
        negated = name.startswith("no_") and name not in options
        option = options.get(name.removeprefix("no_") if negated else name)
        if option is None or option.name is None:
            where = other_place(name, context.command) or "keys are the option names, e.g. classes_per_task"
            raise click.BadParameter(f"{value}: unknown key {brief(key)}; {where}")
        if name == "methods":
            raw = _methods(raw)
        if not _fits(option, raw):
            raise click.BadParameter(f"{value}: {key} is {brief(raw)}, must be of type {option.type.name}")
        if option.name in defaults:
            raise click.BadParameter(f"{value}: {key} sets {option.opts[0]}, which another line sets already")
        if wrong := next((w for text in _texts(raw) if (w := wrong_text(text))), ""):
            raise click.BadParameter(f"{value}: {key} {wrong}")
        if option.multiple:
            defaults[option.name] = [raw] if isinstance(raw, str) else raw
        else:
            defaults[option.name] = (
                not raw if negated and raw is not None else ",".join(raw) if isinstance(raw, list) else raw
            )
    context.default_map = {**(context.default_map or {}), **defaults}
    return value


def _texts(raw: Any) -> list[str]:
    return [r for r in (raw if isinstance(raw, list) else [raw]) if isinstance(r, str)]


def _methods(raw: Any) -> Any:
    """Methods written as ``ranpac: {M: 5000, ridge: 0.01}``, in a mapping or in a list, in the grammar of ``--methods``.

    What is not of this form is given back as it is.
    """
    if isinstance(raw, dict):
        raw = [{name: params} for name, params in raw.items()]
    return [_method(item) for item in raw] if isinstance(raw, list) else raw


def _method(item: Any) -> Any:
    if not isinstance(item, dict) or len(item) != 1:
        return item
    [(name, params)] = item.items()
    if not isinstance(params, dict | None) or any(isinstance(v, dict | list | None) for v in (params or {}).values()):
        return item
    settings = ",".join(f"{key}={value}" for key, value in (params or {}).items())
    return f"{name}:{settings}" if settings else str(name)


def _fits(option: click.Option, raw: Any) -> bool:
    """Whether a YAML value is of an option's type; nothing is rounded or guessed."""
    if isinstance(option.type, click.types.BoolParamType):
        return isinstance(raw, bool) or (raw is None and option.default is None)
    if isinstance(raw, bool) or raw is None:
        return False
    if isinstance(option.type, click.types.IntParamType):
        return fits(raw, int)
    if isinstance(option.type, click.types.FloatParamType):
        return isinstance(raw, int | float)
    if isinstance(option.type, Measured):  # it checks by itself
        return isinstance(raw, str | int | float)
    if isinstance(option.type, WholeOrText):
        return isinstance(raw, str) or fits(raw, int)
    return isinstance(raw, str) or (isinstance(raw, list) and all(isinstance(r, str) for r in raw))


def given(context: click.Context, names: set[str]) -> set[str]:
    """Those of ``names`` that the user set, on the command line or in the YAML file."""
    default = (click.core.ParameterSource.DEFAULT, None)
    return {n for n in names if context.get_parameter_source(n) not in default}


def weights_of(backbone: str, file: str | None) -> dict[str, str] | None:
    """The file of ``--weights`` by backbone. The file may also be written as other commands have it, ``BACKBONE=FILE``."""
    return {backbone: file.removeprefix(f"{backbone}=")} if file else None
