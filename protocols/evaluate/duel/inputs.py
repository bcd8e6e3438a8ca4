"""Inputs of a duel, read from its pool and files alone: the sequences of ``--on``, or the classes in play."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from protocols.evaluate.common.placed import placed, view_of_sequences
from protocols.evaluate.common.source import Source, read_source, run_of
from protocols.evaluate.duel.settings import DuelSettings
from seqsearch.core.errors import UserError
from seqsearch.results.frozen import source_path
from seqsearch.study.classes import check_images, kept_classes, world_of
from seqsearch.training.world import World


def look(settings: DuelSettings, directory: Path) -> None:
    """Open sequences and pools.

    Raises:
        UserError: sequences that cannot be read or are of other classes, a pool that cannot be opened or is too small.
    """
    source, world = source_of(settings, directory), world_of(settings, Path(), "cpu", directory)
    if source:
        view_of_sequences(world, placed(source, world))
    else:
        check_images(world, classes_in_play(world, settings))


def taken_over(settings: DuelSettings, directory: Path) -> Path | None:
    """See `protocols.running.protocol.Protocol.takes_over`."""
    return run_of(settings.on, directory)


def classes_in_play(world: World, settings: DuelSettings) -> list[int]:
    """Indices of the classes that random sequences are drawn from.

    Raises:
        UserError: there are too few for one.
    """
    kept, k = kept_classes(world, settings), settings.classes_per_task
    if len(kept) < settings.tasks * k:
        raise UserError(
            f"pool {settings.pool!r} has {len(kept)} classes in play, {settings.tasks} tasks of {k} need {settings.tasks * k}: "
            "lower --tasks or --classes-per-task, or use a larger --pool"
        )
    return kept


def source_of(settings: DuelSettings, directory: Path) -> Source | None:
    """That of ``--on``; sequences of pools that no search saw are left out."""
    if not settings.on:
        return None
    source = read_source(source_path(directory, settings.on))
    kept = tuple(s for s in source.sequences if s.kind != "heldout")
    if not kept and not source.named:
        raise UserError(
            f"--on {settings.on}: holds no sequence to pair methods on but those of pools that no search saw"
        )
    if len({len(s.tasks) for s in kept}) > 1:
        raise UserError(f"--on {settings.on}: its sequences are not all of one length")
    return replace(source, sequences=kept)
