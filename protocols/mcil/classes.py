"""The classes of an MCIL study, found from its pool alone: those in play, and whether they are enough."""

from __future__ import annotations

from pathlib import Path

from protocols.mcil.settings import McilSettings
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.study.classes import check_images, kept_classes, world_of
from seqsearch.training.world import World


def look(settings: McilSettings, directory: Path) -> None:
    """See `protocols.running.protocol.Protocol.look`."""
    world = world_of(settings, Path(), "cpu", directory)
    check_images(world, classes_in_play(world, settings))


def classes_in_play(world: World, settings: McilSettings) -> list[int]:
    """Indices of the classes in play, in the pool's order: all that are not excluded, or a seeded draw of these.

    Raises:
        UserError: a pool that cannot be opened, or there are not so many, or too few for the experiences.
    """
    kept = kept_classes(world, settings)
    if settings.classes > len(kept):
        raise UserError(f"--classes {settings.classes}: pool {settings.pool!r} has {len(kept)} classes in play")
    _enough(settings, settings.classes or len(kept))
    if not settings.classes:
        return kept
    drawn = seeded_numpy("classes", settings.seed).choice(len(kept), size=settings.classes, replace=False)
    return [kept[i] for i in sorted(drawn.tolist())]


def _enough(settings: McilSettings, n: int) -> None:
    """That each experience has two classes or more."""
    T = settings.experiences
    if n < 2 * T:
        raise UserError(
            f"{n} classes in {T} experiences leave one with fewer than two classes, which needs no classifier: lower "
            f"--experiences to {max(2, n // 2)}"
            if n >= 4
            else f"pool {settings.pool!r} has {n} classes in play, and two experiences of two classes need 4"
        )
