"""The classes of a CLDyB study, found from its pools alone: those in play, those to tune on, and whether they are enough."""

from __future__ import annotations

from pathlib import Path

from protocols.cldyb.settings import CldybSettings
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.planners.fixed import first_task
from seqsearch.planners.step import PoolView
from seqsearch.planners.within_group import within_group_sequence
from seqsearch.study.classes import EVALUATE, TUNE, check_images, kept_classes, view_of, world_of
from seqsearch.training.world import World


def look(settings: CldybSettings, directory: Path) -> None:
    """See `protocols.running.protocol.Protocol.look`."""
    classes_in_play(world_of(settings, Path(), "cpu", directory), settings)


def classes_in_play(world: World, settings: CldybSettings) -> dict[str, PoolView]:
    """The classes that may come in the run, and others to tune on, in the order of their tasks.

    Raises:
        UserError: a pool that cannot be opened, too few classes, also in groups, a class too small to split.
    """
    kept = kept_classes(world, settings)
    drawn = _drawn_to_tune(settings, [i for i in kept if world.arrivals[world.images.part_of_class(i)[0]] == 1])
    out = set(drawn)
    rest = [i for i in kept if i not in out]
    views = {EVALUATE: view_of(world, rest), **({TUNE: view_of(world, drawn)} if drawn else {})}
    _enough(world, settings, views[EVALUATE], len(drawn))
    _enough_in_groups(settings, views[EVALUATE])
    check_images(world, [*rest, *drawn])
    return views


def _enough_in_groups(s: CldybSettings, view: PoolView) -> None:
    """Make sure that ``--baseline within-group`` does not run out of groups; one sequence shows it, whatever is drawn."""
    if s.baseline == "within-group" and s.random_sequences:
        first = first_task(view, s.classes_per_task, s.seed)
        within_group_sequence(first, view, s.tasks, s.classes_per_task, 0, s.seed)


def _drawn_to_tune(settings: CldybSettings, classes: list[int]) -> list[int]:
    """Classes for ``--tune-tasks``, in the order of the tasks; too few if there are too few."""
    if settings.tune_on != "outside":
        return []
    number = settings.tune_tasks * settings.classes_per_task
    return [classes[i] for i in seeded_numpy("tuning", settings.seed).permutation(len(classes))[:number]]


def _enough(world: World, settings: CldybSettings, view: PoolView, to_tune: int) -> None:
    """Make sure that no step, look-ahead included, runs out of classes."""
    k, n = settings.classes_per_task, settings.tasks
    for t in range(n, 0, -1):
        tasks = t + settings.lookahead_at(t) if t > 1 else 1
        if view.known(t) < tasks * k:
            tuned = f" beside the {to_tune} to tune on" if to_tune else ""
            when = f" at step {t}" if settings.grow else ""
            raise UserError(
                f"pool {settings.pool!r} has {view.known(t)} classes in play{tuned}{when}, {tasks} tasks of {k} need "
                f"{tasks * k}: lower --tasks or --classes-per-task, or use a larger --pool"
            )
