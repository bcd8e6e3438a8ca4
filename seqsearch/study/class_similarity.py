"""Similarity of a pool's classes to a method trained on all of them at once; to a frozen backbone, by nearest class means.

Prototypes are means of training images, confusion is counted on reward images. Test images are never looked at.
Everything is computed in this process, pinned to one thread: features go into the cache that runs share.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.paths import at_home
from seqsearch.core.registry import located, located_text
from seqsearch.core.text import counted
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.methods.command import refuse
from seqsearch.planners.all_classes import IMAGES, AllClassesPlanner
from seqsearch.planners.step import PoolView
from seqsearch.pools.open import located_pools
from seqsearch.pools.union import Union, class_names
from seqsearch.similarity.features import from_confusion, from_prototypes
from seqsearch.similarity.matrix import Similarity
from seqsearch.storage.files import cache_root
from seqsearch.training.world import World

FROZEN = "simplecil"
"""Nearest class means of frozen features: the method that adds nothing to a backbone."""


def learned_similarity(
    kind: Literal["prototypes", "confusion"],
    pool_text: str,
    method: str = FROZEN,
    backbone: str = "glyph_vit",
    *,
    seed: int = 0,
    images: int = IMAGES,
    weights: Mapping[str, str] | None = None,
    classes: Sequence[int] | None = None,
    device: str = "cpu",
) -> Similarity:
    """Cosines of class means in a method's feature space, or what it confuses.

    Args:
        pool_text: as ``--pool`` takes it.
        method: in the item grammar of ``--methods``; the default is the frozen backbone's nearest class means.
        backbone: of a method that names none.
        seed: of the split into training, reward and test images, and of training.
        images: training images per class behind a prototype, the first ones of the split; 0: all.
        weights: files by backbone.
        classes: indices among the classes of all pools, in the order wanted; None: all.

    Raises:
        UserError: an unknown pool, method, parameter, backbone or class; fewer than two classes, one too small to split; a
            training that fails or diverges.
    """
    if images < 0:
        raise UserError(f"{images} images per class: give a number of images, or 0 for all")
    files = {b: str(at_home(f).absolute()) for b, f in (weights or {}).items()}
    with tempfile.TemporaryDirectory() as scratch:
        world = World(
            located_pools(pool_text, Path.cwd()), seed, str(cache_root()), scratch, device, weights=tuple(files.items())
        )
        order = _classes(world, classes)
        item = located(parse_item(method, "method"), Path.cwd())
        spec = world.spec(item, located_text(backbone, "backbone", Path.cwd()))
        refuse(spec, "--method")
        if idle := next((b for b in files if b != spec.backbone), None):
            raise UserError(f"--weights {idle}=...: {method} uses backbone {spec.backbone!r}")
        groups = tuple(world.images.classes[i].group for i in order)
        view = PoolView(world.class_ids(order), groups, world.split.digests(), (1,) * len(order))
        planner = AllClassesPlanner(kind, spec, view, seed, images)
        Search(InlineEvaluator(world), Journal(Path(scratch))).run([planner])
        names = class_names(world.images)
        of_classes = f"{len(order)} classes of {world.images.name}, seed {seed}"
        source = f"{planner.name} on {world.backbone(spec.backbone).tag}, {of_classes}"
    of = from_prototypes if kind == "prototypes" else from_confusion
    return of(planner.values, [names[i] for i in order], source)


def open_pools(pool_text: str) -> Union:
    """The pools that ``--pool`` names, as one; see `seqsearch.training.world.World.images`."""
    return World(located_pools(pool_text, Path.cwd()), 0, "", "").images


def _classes(world: World, wanted: Sequence[int] | None) -> list[int]:
    pools = world.images
    order = list(range(len(pools.classes)) if wanted is None else wanted)
    if strange := [c for c in order if not 0 <= c < len(pools.classes)]:
        raise UserError(f"class {strange[0]}: pool {world.pool!r} has classes 0 to {len(pools.classes) - 1}")
    if len(set(order)) < len(order) or len(order) < 2:
        raise UserError(f"{counted(len(order), 'class')} of pool {world.pool!r}: need at least two, each once")
    for part in pools.parts:
        if hasattr(part, "check"):
            part.check()
    world.split.check(order)
    return order
