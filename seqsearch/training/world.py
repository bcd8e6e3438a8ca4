"""What every process of a run must agree on: pool, split, backbones, methods, device. A small record that travels."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from seqsearch.backbones.parts.bf16 import Bf16
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_item, parse_items
from seqsearch.core.registry import load, names, source_digest, versions
from seqsearch.core.types import ClassId, MethodSpec, Task
from seqsearch.pools.base import Part, Pool, Rows
from seqsearch.pools.union import Union, UnionSplit, joint_digest

if TYPE_CHECKING:
    from seqsearch.backbones.base import Backbone
    from seqsearch.methods.base import Caps, Config

PATH_KINDS = ("folder", "parquet")
"""Kinds of pools that are named by their path."""

MEMBERS: dict[str, tuple[str, ...]] = {
    "pool": ("name", "digest", "classes", "native_size", "split_sizes", "given", "images"),
    "backbone": ("name", "tag", "digest", "dim", "view", "module", "preprocess"),
}
"""What an own pool or backbone must have."""


@dataclass(frozen=True)
class World:
    """Names only, so that it can be sent to a worker and written into ``config.json``; what they name is made when asked for.

    Attributes:
        pool: items, comma-separated: ``glyphs:classes=400``, a folder, a Parquet file; several are one pool.
        seed: of the split and of all training.
        cache: folder of frozen features.
        states: folder of prefix states.
        device: ``cpu`` or ``cuda``.
        grow: (step, pool item): pools whose classes are there from that step on.
        weights: (backbone, file): weights that do not come from timm's hub.
        precision: of the backbones: ``float32`` or ``bf16``.
    """

    pool: str
    seed: int
    cache: str
    states: str
    device: str = "cpu"
    grow: tuple[tuple[int, str], ...] = ()
    weights: tuple[tuple[str, str], ...] = ()
    precision: str = "float32"

    def __reduce__(self) -> Any:
        # names travel, the pools themselves do not
        return World, tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def images(self) -> Union:
        """All pools, those that a run begins with first.

        Raises:
            UserError: a pool cannot be opened, or comes twice.
        """
        texts = [*pool_texts(self.pool), *(text for _, text in self.grow)]
        parts = [build_pool(text) for text in texts]
        digests = [p.digest for p in parts]
        for number, digest in enumerate(digests):
            if digest in digests[:number]:
                raise UserError(
                    f"pools {texts[digests.index(digest)]!r} and {texts[number]!r} are the same: name it once"
                )
        return Union(parts)

    @property
    def arrivals(self) -> tuple[int, ...]:
        """The step from which the classes of each pool are there ``[pools]``."""
        begins_with = len(self.images.parts) - len(self.grow)
        return (1,) * begins_with + tuple(step for step, _ in self.grow)

    @cached_property
    def split(self) -> UnionSplit:
        return UnionSplit(self.images, self.seed)

    def backbone(self, name: str) -> Backbone:
        """See `build_backbone`."""
        return build_backbone(name, dict(self.weights), self.precision)

    def method(self, spec: MethodSpec, params: Mapping[str, Any], label: str) -> MethodSpec:
        """The same method with other parameters."""
        item = Item(label, spec.target, spec.backbone, tuple(params.items()))
        return method_spec(item, spec.backbone, self.device, dict(self.weights), self.precision)

    def class_ids(self, indices: Any) -> tuple[ClassId, ...]:
        places = [self.images.part_of_class(int(i)) for i in indices]
        return tuple(ClassId(self.images.parts[part].digest, own) for part, own in places)

    def task(self, indices: Any) -> Task:
        """The task of these class indices, in this order."""
        ids = self.class_ids(indices)
        splits = self.split.digests()
        return Task(ids, joint_digest(splits[c.pool] for c in ids))

    def class_index(self, class_id: ClassId) -> int:
        """Index among the classes of all pools.

        Raises:
            UserError: the class is of another pool.
        """
        digests = [p.digest for p in self.images.parts]
        if class_id.pool not in digests:
            raise UserError(
                f"class {class_id.index} belongs to pool {class_id.pool[:12]}, not to {self.pool!r}: its content changed"
            )
        return self.images.class_index(digests.index(class_id.pool), class_id.index)

    def rows(self, class_ids: tuple[ClassId, ...], part: Part) -> tuple[Rows, Rows]:
        """Rows ``[n]`` of a part of some classes, and the position ``[n]`` in ``class_ids`` of each one's class."""
        parts = [self.split.rows(self.class_index(c), part) for c in class_ids]
        positions = np.repeat(np.arange(len(parts)), [len(p) for p in parts])
        return np.concatenate(parts), positions.astype(np.int64)


def build_pool(text: str) -> Pool:
    """A pool from the item grammar: a name, a folder of images, a Parquet file, or ``FILE.py:OBJECT``.

    Raises:
        UserError: unknown pool or option.
    """
    item = _path_item(text) if Path(text).expanduser().exists() else parse_item(text, "pool")
    if item.target in names("pool") or (":" in item.target and not Path(item.target).expanduser().exists()):
        pool: Pool = _call("pool", item)
        return pool
    path = Path(item.target).expanduser()
    if not path.exists():
        raise UserError(
            f"pool {item.target!r} does not exist: name a folder of images, a .parquet file, or one of "
            f"{', '.join(n for n in names('pool') if n not in PATH_KINDS)}"
        )
    kind = "parquet" if path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet"))) else "folder"
    opened: Pool = _call("pool", replace(item, target=kind, params=(("path", str(path)), *item.params)))
    return opened


def build_backbone(text: str, weights: Mapping[str, str] | None = None, precision: str = "float32") -> Backbone:
    """A backbone from the item grammar: a name, any timm model, or ``FILE.py:OBJECT``; ``weights``: files by backbone.

    Raises:
        UserError: unknown backbone or option, weights that do not load.
    """
    backbone = _in_float32(text, weights)
    return Bf16(backbone) if precision == "bf16" else backbone


def _in_float32(text: str, weights: Mapping[str, str] | None) -> Backbone:
    item, file = parse_item(text, "backbone"), (weights or {}).get(text)
    if item.target in names("backbone") or ":" in item.target:
        if file:
            raise UserError(
                f"--weights {text}={file}: this backbone brings its own weights, only timm models take a file"
            )
        backbone: Backbone = _call("backbone", item)
        return backbone
    if item.params:
        raise UserError(f"backbone {item.text!r}: a timm model takes no options here")
    from seqsearch.backbones import timm_model

    return timm_model.build_timm(item.target, file)


def _call(kind: Literal["pool", "backbone"], item: Item) -> Any:
    build = load(kind, item.target)
    try:
        made = build(**dict(item.params))
    except TypeError as error:
        known = list(inspect.signature(build).parameters)
        unknown = [n for n, _ in item.params if n not in known]
        wrong = f"no option {unknown[0]!r}; it has {', '.join(known) or 'none'}" if unknown else str(error)
        raise UserError(f"{kind} {item.text!r}: {wrong}") from None
    if lacking := [n for n in MEMBERS[kind] if not hasattr(made, n)]:
        raise UserError(f"{kind} {item.text!r} has no {', '.join(lacking)}: see seqsearch/{kind}s/base.py")
    return made


def method_spec(
    item: Item, default_backbone: str, device: str, weights: Mapping[str, str] | None = None, precision: str = "float32"
) -> MethodSpec:
    """Check a method before any compute is spent, and give it its identity; ``weights``: files by backbone.

    Raises:
        UserError: unknown method, parameter, value or backbone.
    """
    from seqsearch.methods.base import Method, build_config

    build = load("method", item.target)
    if not hasattr(build, "Config") or not hasattr(build, "fit_task"):
        raise UserError(f"method {item.text!r} is no method: derive its class from seqsearch.methods.base.Method")
    for hook in ("fit_task", "predict", "features", "state_dict", "load_state_dict", "memory_footprint"):
        if getattr(build, hook, None) is getattr(Method, hook):
            raise UserError(f"method {item.text!r} does not define {hook} (docs/methods.md says what it is for)")
    backbone_name = item.backbone or default_backbone
    try:
        config = build_config(build, dict(item.params), backbone_name)
    except UserError as error:
        raise UserError(f"method {item.text!r}: {error}") from None
    backbone = build_backbone(backbone_name, weights, precision)
    if capabilities(build, config, item.text).backbones == "vit" and not getattr(backbone, "vit", True):
        raise UserError(
            f"method {item.text!r} injects prompts or adapters into a vision transformer, and backbone {backbone_name!r} is none "
            f"that timm builds of ordinary blocks: give it another, as {item.target}@vit_base_patch16_224, or parameters with "
            f"which it injects nothing, if it has such (seqsearch methods {item.target})"
        )
    identity = (config, source_digest(build), engine_digest(), backbone.digest, device, 1, versions())
    digest = digest_of("method", *identity)
    params = tuple((name, value) for name, value in item.params)
    return MethodSpec(item.text, item.target, backbone_name, params, digest, _anchor(build, config))


def capabilities(build: Any, config: Config, label: str) -> Caps:
    """What a method of this config can do.

    Raises:
        UserError: an own method's `capabilities` fails.
    """
    try:
        caps: Caps = build.capabilities(config)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"method {label!r} failed in capabilities(): {type(error).__name__}: {error}") from None
    return caps


def _anchor(build: Any, config: Config) -> int | None:
    """See `MethodSpec.anchor`. Sums over stored features are not worth keeping apart: they cost less than the book-keeping."""
    from seqsearch.methods.base import Additive

    trains = isinstance(build, type) and issubclass(build, Additive) and build.capabilities(config).input == "images"
    return build.anchor(config) if trains else None


def located(item: Item, directory: Path) -> Item:
    """The item with ``FILE.py:OBJ`` as workers find it, whatever folder they run in; its label keeps the file's name only."""
    file, colon, name = item.target.rpartition(":")
    if not (colon and file.endswith(".py")):
        return item
    path = (directory / Path(file).expanduser()).resolve()
    return replace(item, target=f"{path}:{name}", text=item.text.replace(file, path.name, 1))


def pool_texts(text: str, directory: Path | None = None) -> list[str]:
    """The items of ``--pool``; a path that is there is one item, whatever is in its name."""
    there = ((directory or Path()) / Path(text).expanduser()).exists()
    return [text] if there and text.strip() else [i.text for i in parse_items(text, "pool")]


def _path_item(text: str) -> Item:
    return Item(text, text, None, ())


def located_text(text: str, kind: Literal["pool", "backbone"], directory: Path) -> str:
    """A pool or backbone item as workers find it: paths in it made absolute."""
    if kind == "pool" and (path := directory / Path(text).expanduser()).exists() and text not in names(kind):
        return str(path.absolute())
    item = parse_item(text, kind)
    file, colon, name = item.target.rpartition(":")
    if colon and file.endswith(".py"):
        target = f"{(directory / Path(file).expanduser()).resolve()}:{name}"
    elif kind == "pool" and not colon and item.target not in names(kind):
        target = str((directory / Path(item.target).expanduser()).absolute())
    else:
        target = item.target
    return target + item.text[len(item.target) :]


def engine_digest() -> str:
    """Digest of the sources that every method's training runs through."""
    here = Path(__file__).parents[1]
    names = ("methods/base.py", "methods/data.py", "training/context.py", "training/trainer.py", "backbones/inject.py")
    parts = sorted((here / "methods" / "parts").glob("*.py"))
    return digest_of([p.read_bytes() for p in [*parts, *(here / n for n in names)]])
