"""What ``seqsearch check`` checks something on: methods and learners, backbones of images and of image-text pairs."""

from __future__ import annotations

from pathlib import Path

from seqsearch.backbones.base import Backbone, ReadsTexts
from seqsearch.core import command_line
from seqsearch.core.grammar import Item, parse_item
from seqsearch.core.registry import located, names
from seqsearch.learners.base import Learner
from seqsearch.methods.base import Caps
from seqsearch.methods.spec import build_of

POOL, CAPTIONED = "glyphs:classes=32", "glyphs:classes=32,captions=first"


def pool_for(backbone: Backbone) -> str:
    """What methods on a backbone learn in the check: images, with texts if it reads them."""
    return CAPTIONED if isinstance(backbone, ReadsTexts) else POOL


def embedded_backbone(text: str, learner: bool = False) -> str:
    """The embedded backbone that a method, given in the item grammar, is made for: of images, or of image-text pairs.

    Raises:
        UserError: it cannot be loaded.
    """
    item = located(parse_item(text, "method"), Path.cwd())
    if learner or command_line.is_one(item.target) or is_learner(item):
        return "glyph_vit"
    caps = getattr(build_of("method", item.target), "caps", None)
    return "glyph_flava" if isinstance(caps, Caps) and caps.backbones == "pairs" else "glyph_vit"


def is_learner(item: Item) -> bool:
    """Whether it is a learner of streams, and no method: its class says; of what is ours, its name if no method has it.

    Raises:
        UserError: its file cannot be loaded.
    """
    if command_line.is_one(item.target):
        return False
    if ":" not in item.target:
        return item.target in names("learner") and item.target not in names("method")
    build = build_of("method", item.target)
    return isinstance(build, type) and issubclass(build, Learner)
