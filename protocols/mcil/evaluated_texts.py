"""Checks the texts that a study evaluates with, before anything is computed (``--text-at-test``, ``--modalities``)."""

from __future__ import annotations

from seqsearch.backbones.base import ReadsTexts
from seqsearch.core.errors import UserError
from seqsearch.core.registry import user_code
from seqsearch.study.study import Study
from seqsearch.training.class_free import ClassFree
from seqsearch.training.scenarios.class_free_texts import words_of
from seqsearch.training.world import World


def check_reading(study: Study, option: str) -> None:
    """Raises UserError: a method reads no texts, which ``option`` is about."""
    world = study.world
    if alone := next((m for m in study.methods if not isinstance(world.backbone(m.backbone), ReadsTexts)), None):
        raise UserError(
            f"{option}: {alone.label} reads images alone (backbone {alone.backbone!r}): leave it out, or take a backbone of "
            "image-text pairs, e.g. --backbone glyph_flava"
        )


def check_empty_texts(study: Study) -> None:
    """Raises UserError: a backbone cannot take an empty text, which ``none`` gives every image, ``class-free`` some."""
    for name in sorted({m.backbone for m in study.methods}):
        backbone, wrong = study.world.backbone(name), f"--text-at-test: backbone {name!r} does not take an empty text"
        assert isinstance(backbone, ReadsTexts)
        with user_code(wrong):
            try:
                found = backbone.tokenise([""])
            except UserError as error:
                raise UserError(f"{wrong}: {error}") from None
            if any(len(t) != 1 or t.numel() == 0 for t in found.values()):
                raise UserError(f"{wrong}: it turns it into no token")


def kept_words(world: World) -> ClassFree:
    """The words that class-free texts keep.

    Raises:
        UserError: there are none.
    """
    found = words_of(world)
    if not found.kept:
        raise UserError(
            f"--text-at-test class-free: each of the {found.of} words in the texts of pool {world.pool!r} depends on the class, "
            "or is rare, so that nothing would be left: take --text-at-test none"
        )
    return found
