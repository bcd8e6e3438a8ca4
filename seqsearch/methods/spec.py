"""From a method's name to its identity, checked before any compute is spent."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seqsearch.backbones.base import Backbone, FromScratch, ReadsNames, ReadsTexts
from seqsearch.core import command_line
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item
from seqsearch.core.identity import code_digest, source_files, versions
from seqsearch.core.registry import ItemKind, load, user_code
from seqsearch.core.types import MethodSpec
from seqsearch.methods.base import Additive, Caps, Method
from seqsearch.methods.command import Command, command_spec
from seqsearch.methods.config import Config, acts_in_first, build_config, config_of


def build_of(kind: ItemKind, target: str) -> Any:
    """See `load`; of a method by command, `Command`."""
    return Command if kind == "method" and command_line.is_one(target) else load(kind, target)


def method_spec(
    item: Item,
    backbone_name: str,
    backbone: Backbone,
    device: str,
    fed_by: Iterable[Path] = (),
    augment: str = "none",
    base: Any = Method,
) -> MethodSpec:
    """Check a method on a backbone, and give it its identity.

    Its code counts, and with it all that it imports; so does that of the backbone, and of the engine's files that feed it
    (``fed_by``). A method stays what it was when nothing of this changed. ``base`` is what it must be derived from: `Method`,
    or the base of another kind.

    Raises:
        UserError: unknown method, parameter or value, or a backbone that it cannot use.
    """
    if command_line.is_one(item.target):
        return command_spec(item, backbone_name, device)
    kind: ItemKind = base.kind
    build = build_of(kind, item.target)
    if not hasattr(build, "Config") or any(not hasattr(build, hook) for hook in base.required):
        raise UserError(f"{kind} {item.text!r} is no {kind}: derive its class from {base.__module__}.{base.__name__}")
    for hook in base.required:
        if getattr(build, hook, None) is getattr(base, hook):
            raise UserError(f"{kind} {item.text!r} does not define {hook} (docs/{kind}s.md says what it is for)")
    config = config_of(build, item, backbone_name)
    caps = capabilities(build, config, item.text)
    _check_backbone(item, caps, backbone_name, backbone)
    more = (augment,) if augments(caps, augment) else ()
    code = code_digest([*source_files(build), *_backbone_files(backbone), *fed_by])
    own = (
        (item.target.rpartition(":")[2],) if ":" in item.target else ()
    )  # one file may hold several, with like parameters
    texts = isinstance(backbone, ReadsTexts)
    libraries = versions(texts or caps.backbones == "names")
    rest = (code, backbone.digest, device, 1, libraries, *more, *own)
    acting = acts_in_first(config)
    return MethodSpec(
        item.text,
        item.target,
        backbone_name,
        tuple(item.params),
        digest_of("method", config, *rest),
        _anchor(build, config),
        first=digest_of("first", type(config).__name__, acting, *rest) if len(acting) < len(vars(config)) else "",
        texts=texts,
    )


def capabilities(build: Any, config: Config, label: str) -> Caps:
    """Return the capabilities of a method of this config.

    Raises:
        UserError: a custom method's `capabilities` fails.
    """
    with user_code(f"method {label!r} failed in capabilities()"):
        caps: Caps = build.capabilities(config)
    return caps


def capabilities_of(spec: MethodSpec, kind: ItemKind = "method") -> Caps:
    """Return the capabilities of a checked method, or of a checked item of another ``kind``."""
    build = build_of(kind, spec.target)
    return capabilities(build, build_config(build, dict(spec.params), spec.backbone), spec.label)


def hyperparameters(methods: Iterable[MethodSpec], kind: ItemKind = "method") -> dict[str, dict[str, Any]]:
    """All hyperparameters of methods, by label: those that were given, and the defaults that hold on each one's backbone."""
    found = dict[str, dict[str, Any]]()
    for spec in methods:
        build = build_of(kind, spec.target)
        found[spec.label] = dict(vars(build_config(build, dict(spec.params), spec.backbone)))
    return found


def check_memory(methods: Iterable[MethodSpec], classes: int) -> None:
    """That every class of a run has room for an exemplar in the memory of each method that has one.

    Raises:
        UserError: one has less.
    """
    for method in methods:
        capacity = capabilities_of(method).most_classes
        if capacity is not None and capacity < classes:
            raise UserError(
                f"method {method.label!r} has memory for {capacity} images and the run has {classes} classes: give it "
                f"memory={classes} or more, or memory_of=class"
            )


def augments(caps: Caps, augment: str) -> bool:
    """Whether ``--augment`` changes what a method learns from."""
    return augment != "none" and bool(caps.augmentation) and caps.input == "images"


def _check_backbone(item: Item, caps: Caps, name: str, backbone: Backbone) -> None:
    if caps.backbones == "vit" and not getattr(backbone, "vit", True):
        raise UserError(
            f"method {item.text!r} injects prompts or adapters into a vision transformer, and backbone {name!r} is none "
            f"that timm builds of ordinary blocks: give it another, as {item.target}@vit_base_patch16_224, or parameters with "
            f"which it injects nothing, if it has such (seqsearch methods {item.target})"
        )
    _check_pairs(item, caps, name, backbone)
    if caps.backbones == "names" and not isinstance(backbone, ReadsNames):
        raise UserError(
            f"method {item.text!r} needs a backbone with a text tower, and {name!r} has none: give it clip, as {item.target}@clip"
        )
    if caps.backbones == "maps" and getattr(backbone, "staged", True) is False:
        raise UserError(
            f"method {item.text!r} reads feature maps of a network's stages, and backbone {name!r} gives none: give it a ResNet, "
            f"as {item.target}@scratch:resnet32 or {item.target}@resnet18"
        )
    if caps.backbones == "maps" and hasattr(backbone, "inner"):
        raise UserError(
            f"method {item.text!r} reads feature maps of a network's stages, which --precision bf16 does not reach: leave it out"
        )
    if isinstance(backbone, FromScratch) and not caps.trains_backbone and caps.input != "labels":
        raise UserError(
            f"method {item.text!r} does not train its backbone, and {name!r} begins from scratch: its features would say "
            "nothing; give it a pre-trained one"
        )


def _check_pairs(item: Item, caps: Caps, name: str, backbone: Backbone) -> None:
    """Raises UserError: a method of image-text pairs without a backbone of such, or the other way round."""
    reads_texts = isinstance(backbone, ReadsTexts)
    if caps.backbones == "pairs" and not reads_texts:
        raise UserError(
            f"method {item.text!r} learns from images with texts, and backbone {name!r} reads images alone: give it "
            f"{item.target}@glyph_flava or {item.target}@flava"
        )
    if reads_texts and not (caps.pairs or caps.backbones == "pairs" or caps.input in ("frozen", "labels")):
        raise UserError(
            f"method {item.text!r} learns from images alone, and backbone {name!r} reads their texts, too: take another one, "
            "or a method that reads stored features or pairs (seqsearch methods)"
        )


def _backbone_files(backbone: Backbone) -> list[Path]:
    inner = getattr(backbone, "inner", None)  # of one that wraps another (`Bf16`)
    return [*source_files(type(backbone)), *(_backbone_files(inner) if inner is not None else [])]


def _anchor(build: Any, config: Config) -> int | None:
    """See `MethodSpec.anchor`. Sums over stored features are not worth keeping apart: they cost less than the book-keeping."""
    with user_code(f"method {build.__name__!r} failed in anchor()"):
        trains = (
            isinstance(build, type) and issubclass(build, Additive) and build.capabilities(config).input == "images"
        )
        return build.anchor(config) if trains else None
