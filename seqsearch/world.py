"""What every process of a run must agree on: pool, split, backbones, methods, device. A small record that travels."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from seqsearch.digests import digest_of
from seqsearch.errors import UserError
from seqsearch.grammar import Item, parse_item
from seqsearch.load import load, source_digest, versions
from seqsearch.pools.base import Part, Pool, Rows, Split, SplitSizes
from seqsearch.types import ClassId, MethodSpec, Task

if TYPE_CHECKING:
    from seqsearch.backbones.base import Backbone


@dataclass(frozen=True)
class World:
    """Names only, so that it can be sent to a worker and written into ``config.json``; what they name is made when asked for.

    Attributes:
        pool: item grammar, e.g. ``glyphs:classes=400``.
        seed: of the split and of all training.
        cache: folder of frozen features.
        states: folder of prefix states.
        device: ``cpu`` or ``cuda``.
    """

    pool: str
    seed: int
    cache: str
    states: str
    device: str = "cpu"

    def __reduce__(self) -> Any:
        return World, (
            self.pool,
            self.seed,
            self.cache,
            self.states,
            self.device,
        )  # names travel, the pool itself does not

    @cached_property
    def images(self) -> Pool:
        """The pool."""
        return build_pool(self.pool)

    @cached_property
    def split(self) -> Split:
        sizes = getattr(self.images, "split_sizes", None) or SplitSizes()
        return Split(self.images, self.seed, sizes)

    def class_ids(self, indices: Any) -> tuple[ClassId, ...]:
        return tuple(ClassId(self.images.digest, int(i)) for i in indices)

    def task(self, indices: Any) -> Task:
        """The task of these class indices, in this order."""
        return Task(self.class_ids(indices), self.split.digest)

    def class_index(self, class_id: ClassId) -> int:
        """Index in the pool.

        Raises:
            UserError: the class is of another pool.
        """
        if class_id.pool != self.images.digest:
            raise UserError(
                f"class {class_id.index} belongs to pool {class_id.pool[:12]}, not to {self.pool!r}: its content changed"
            )
        return class_id.index

    def rows(self, class_ids: tuple[ClassId, ...], part: Part) -> tuple[Rows, Rows]:
        """Rows ``[n]`` of a part of some classes, and the position ``[n]`` in ``class_ids`` of each one's class."""
        parts = [self.split.rows(self.class_index(c), part) for c in class_ids]
        positions = np.repeat(np.arange(len(parts)), [len(p) for p in parts])
        return np.concatenate(parts), positions.astype(np.int64)


def build_pool(text: str) -> Pool:
    """A pool from the item grammar.

    Raises:
        UserError: unknown pool or option.
    """
    item = parse_item(text, "pool")
    pool: Pool = _call("pool", item)
    return pool


def build_backbone(text: str) -> Backbone:
    """A backbone from the item grammar.

    Raises:
        UserError: unknown backbone or option.
    """
    item = parse_item(text, "backbone")
    backbone: Backbone = _call("backbone", item)
    return backbone


def _call(kind: Literal["pool", "backbone"], item: Item) -> Any:
    build = load(kind, item.target)
    try:
        return build(**dict(item.params))
    except TypeError as error:
        known = list(inspect.signature(build).parameters)
        unknown = [n for n, _ in item.params if n not in known]
        wrong = f"no option {unknown[0]!r}; it has {', '.join(known) or 'none'}" if unknown else str(error)
        raise UserError(f"{kind} {item.text!r}: {wrong}") from None


def method_spec(item: Item, default_backbone: str, device: str) -> MethodSpec:
    """Check a method before any compute is spent, and give it its identity.

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
    try:
        config = build_config(build, dict(item.params))
    except UserError as error:
        raise UserError(f"method {item.text!r}: {error}") from None
    backbone_name = item.backbone or default_backbone
    backbone = build_backbone(backbone_name)
    digest = digest_of(
        "method", config, source_digest(build), engine_digest(), backbone.digest, "float32", device, 1, versions()
    )
    params = tuple((name, value) for name, value in item.params)
    return MethodSpec(item.text, item.target, backbone_name, params, digest)


def located(item: Item, directory: Path) -> Item:
    """The item with ``FILE.py:OBJ`` as workers find it, whatever folder they run in; its label keeps the file's name only."""
    file, colon, name = item.target.rpartition(":")
    if not (colon and file.endswith(".py")):
        return item
    path = (directory / Path(file).expanduser()).resolve()
    return replace(item, target=f"{path}:{name}", text=item.text.replace(file, path.name, 1))


def engine_digest() -> str:
    """Digest of the sources that every method's training runs through."""
    here = Path(__file__).parent
    names = ("methods/base.py", "methods/data.py", "lending.py", "workbench.py")
    return digest_of([p.read_bytes() for p in [*sorted((here / "methods").glob("_*.py")), *(here / n for n in names)]])
