"""Settings to try: draws from the search space of each method, or what the user gave instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from protocols.gtep.paper.sets import instead_of
from protocols.gtep.paper.settings import left_out, outside_sets, printed_settings
from protocols.gtep.settings import ORIGINAL, PRINTED, TUNED, GtepSettings
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Value, parse_item
from seqsearch.core.paths import at_home
from seqsearch.core.typed import brief
from seqsearch.core.types import MethodSpec
from seqsearch.core.yaml_file import read_mapping
from seqsearch.methods.sampling import Spaces, proposals, search_space
from seqsearch.methods.spec import build_of
from seqsearch.training.world import World

SCHEMA = "seqsearch-gtep-chosen/1"
"""Of files of ``--params``, which runs write, too."""
LARGEST, DEEPEST = 1 << 20, 6
"""Bytes of such a file; mappings within each other."""


@dataclass(frozen=True)
class Setting:
    """One setting of a method: its number, what was added to the parameters that the user fixed, and what it became."""

    method: MethodSpec
    number: int
    added: Mapping[str, Value]
    spec: MethodSpec


def drawn(world: World, method: MethodSpec, count: int, settings: GtepSettings) -> list[Setting]:
    """``count`` different random settings of a method, fewer if there are no more; of one that has no space, its defaults."""
    build, fixed = build_of("method", method.target), dict(method.params)
    added = proposals(
        build, fixed, count, settings.seed, method.backbone, defaults=False, instead=_instead(method, settings)
    )
    return [setting_of(world, method, n, params) for n, params in enumerate(added)]


def space_of_study(method: MethodSpec, settings: GtepSettings) -> Spaces:
    """Return the search space of each parameter of a method."""
    build = build_of("method", method.target)
    return search_space(build, dict(method.params), method.backbone, _instead(method, settings))


def _instead(method: MethodSpec, settings: GtepSettings) -> dict[str, tuple[Value, ...]]:
    return instead_of(method.target, settings.tasks, settings.space == "code")


def setting_of(world: World, method: MethodSpec, number: int, added: Mapping[str, Value]) -> Setting:
    """A setting of a method, by what is added to the parameters that the user fixed."""
    spec = world.respecified(method, {**dict(method.params), **added}, f"{method.label} [{number}]")
    return Setting(method, number, added, spec)


def check_spaces(methods: Sequence[MethodSpec], seed: int) -> None:
    """That every method has settings to try.

    Raises:
        UserError: each draw breaks a rule between parameters, as where the user fixed one of them.
    """
    for method in methods:
        build, fixed = build_of("method", method.target), dict(method.params)
        space = search_space(build, fixed, method.backbone)
        if space and not proposals(build, fixed, 1, seed, method.backbone, defaults=False):
            raise UserError(
                f"method {method.label!r}: every setting that was drawn breaks a rule between its parameters "
                f"(it searches {', '.join(space)}): fix fewer of them, or others"
            )


def given_params(settings: GtepSettings, methods: Sequence[MethodSpec], directory: Path) -> dict[str, dict[str, Value]]:
    """Parameters of each method by label, where nothing is tried; those that the user fixed go before them.

    A label that a file does not have is looked for without the backbone in it.

    Raises:
        UserError: no such list or file, or one that lacks a method.
    """
    if settings.params == TUNED:
        return {}
    if settings.params == ORIGINAL:
        return {m.label: {} for m in methods}
    if settings.params.startswith(PRINTED):
        found, name = printed_settings(_list_of(settings.params)), {m.label: m.target for m in methods}
    else:
        found = _read(directory / at_home(settings.params))
        name = {m.label: m.label if m.label in found else _without_backbone(m.label) for m in methods}
        found = {_without_backbone(label): params for label, params in found.items()} | found
    if missing := next((label for label, own in name.items() if own not in found), None):
        raise UserError(
            f"--params {brief(settings.params)}: has no settings of {missing!r}; it has {', '.join(found) or 'none'}"
        )
    return {
        label: {k: v for k, v in found[own].items() if k not in _fixed(methods, label)} for label, own in name.items()
    }


def remarks(settings: GtepSettings, methods: Sequence[MethodSpec]) -> str:
    """Return the remarks on a list of the paper; empty if there are none.

    They name values outside the paper's own sets, and printed settings that are no parameters here.
    """
    if not settings.params.startswith(PRINTED):
        return ""
    called, used = _list_of(settings.params), {m.target for m in methods}
    outside = [f"{o.method} {o.key}={o.value}" for o in outside_sets(called) if o.method in used]
    missing = [f"{each.method} {each.key}" for each in left_out(called) if each.method in used]
    said = [f"outside the paper's own sets: {', '.join(outside)}"] if outside else []
    said += [f"printed and no parameter here: {', '.join(missing)}"] if missing else []
    return f"{settings.params}: {'; '.join(said)}" if said else ""


def _without_backbone(label: str) -> str:
    """Return the label of a method without its backbone.

    Settings that were chosen on one network may be evaluated on another.
    """
    item = parse_item(label, "method")
    said = ",".join(f"{name}={value}" for name, value in item.params)
    return f"{item.target}:{said}" if said else item.target


def _list_of(params: str) -> str:
    return ORIGINAL if params == PRINTED + ORIGINAL else params


def _fixed(methods: Sequence[MethodSpec], label: str) -> set[str]:
    return {name for m in methods if m.label == label for name, _ in m.params}


def _read(path: Path) -> dict[str, dict[str, Value]]:
    content = read_mapping(path, LARGEST, DEEPEST, SCHEMA).get("methods")
    if not isinstance(content, dict):
        raise UserError(f"{path}: methods are missing: a mapping of labels to parameters")
    for label, params in content.items():
        if not isinstance(params, dict) or not all(isinstance(v, str | int | float) for v in params.values()):
            raise UserError(f"{path}: {brief(label)} must hold `parameter: value` pairs")
    return {str(label): {str(k): v for k, v in params.items()} for label, params in content.items()}
