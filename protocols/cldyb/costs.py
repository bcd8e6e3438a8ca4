"""Cost of a CLDyB study: trainings from its settings, hours and disk from one real training of each method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from protocols.cldyb.preflight import preflight_warnings
from protocols.cldyb.settings import CldybSettings
from protocols.cldyb.study import CldybStudy
from protocols.running.costs import BESIDE, Cost, UnitCosts, each, unit_costs
from protocols.running.snapshot import Expected
from seqsearch.core.errors import UserError
from seqsearch.core.notices import notice
from seqsearch.core.text import counted
from seqsearch.methods.command import commands
from seqsearch.planners.fixed import random_sequences
from seqsearch.stats.rank_test import fewest_random

UNKNOWN = UnitCosts()
"""Trainings alone are estimated."""


@dataclass(frozen=True)
class Estimate:
    """Upper bounds. A training is one task of one method; of a ``search`` with a command, which keeps no state, these are all
    tasks of every sequence that it is run on (``command_runs``). ``random`` includes the prefixes that greedy random sequences
    are drawn after. ``naive`` is what retraining every prefix would take.

    ``joint`` trainings learn all classes of a found or random sequence at once. Each counts as one, and takes as long as the
    tasks of a sequence. Those of a search with ``gap-to-joint`` are counted there, and take as long as one task.

    ``states`` counts sets of one state per method that lie on the disk at a time, ``rollouts`` what `Search` counts as finished.
    """

    search: int
    scoring: int
    random: int
    tuning: int
    naive: int
    rollouts: int
    states: int
    hours: float
    disk_bytes: int
    workers: int
    command_runs: int = 0
    joint: int = 0

    @property
    def trainings(self) -> int:
        return self.search + self.scoring + self.random + self.tuning + self.joint


def estimate(
    s: CldybSettings,
    methods: int,
    unit: UnitCosts = UNKNOWN,
    workers: int = 1,
    instead: UnitCosts | None = None,
    jointly: int | None = None,
) -> Estimate:
    """Costs of a study with so many methods, ``workers`` jobs at a time; what is screened out is not taken off.

    ``instead``: what the surrogates take, if they search; its ``state_bytes`` are of all that is trained. ``jointly``: how many
    methods are trained jointly (`CldybStudy.jointly`); where that is not known, all that may be.
    """
    search, naive, rollouts = _of_search(s)
    groups, members = s.searched
    found, searched = s.searches * groups, s.searches * members
    joint = _joint(s, found, methods, jointly)
    scored = methods * s.score_seeds
    scoring = scored * (found * (s.tasks - 1) + 1)
    random = methods * s.random_sequences * (s.tasks - 1)
    evaluated = scored * found + methods * s.random_sequences
    tuning = methods * s.tune_trials * s.tune_tasks + _search_to_tune(s, methods, unit)
    by_searches = instead or unit
    searchers = len(s.surrogate_items()) or methods
    runs = searched * by_searches.commands // searchers
    steps, by_command = search * (searched - runs), naive * runs
    drawn, commands = _draws(s), by_searches.commands
    prefixes, prefixes_by_command = drawn.trainings * (searchers - commands), drawn.naive * commands
    seconds = (scoring + random + tuning + joint * s.tasks) * unit.seconds
    random += prefixes + prefixes_by_command
    total = steps + by_command + scoring + random + tuning + joint
    seconds += (by_command + prefixes_by_command) * by_searches.command_seconds
    seconds += (steps + prefixes) * _of_ours(by_searches, searchers)
    probed = _sets(s, methods) * (s.tasks - 1) + drawn.trainings
    states = _states(s, methods) + 2 * drawn.sequences + s.score_seeds + 2 * workers + 2
    return Estimate(
        search=steps + by_command,
        scoring=scoring,
        random=random,
        tuning=tuning,
        naive=tuning + naive * searched + evaluated * s.tasks + joint + drawn.naive * searchers,
        rollouts=rollouts * searched + evaluated + joint + drawn.trainings * searchers,
        states=states,
        hours=(seconds + probed * by_searches.probe_seconds) / 3600 / max(1, workers),
        disk_bytes=states * by_searches.state_bytes + probed * by_searches.probe_bytes + total * 1500,
        workers=max(1, workers),
        command_runs=rollouts * runs + drawn.trainings * commands,
        joint=joint,
    )


@dataclass(frozen=True)
class _Draws:
    """Of one method for ``--baseline greedy``: random sequences, trainings of their prefixes task by task, and without states."""

    sequences: int
    trainings: int
    naive: int


def _joint(s: CldybSettings, found: int, methods: int, jointly: int | None) -> int:
    """Joint trainings beside found and random sequences."""
    if jointly is None:
        jointly = 0 if s.joint is False and s.reward != "gap-to-joint" else methods
    return jointly * (s.score_seeds * found + s.random_sequences)


def _sets(s: CldybSettings, methods: int) -> int:
    """Searches that look at candidates of their own."""
    return s.searches * (methods - 1 if s.leave_one_out else 1)


def _states(s: CldybSettings, methods: int) -> int:
    """Sets of one state per method that the searches keep at a time."""
    kept_leaves = s.simulations if s.followups != "feasible" else 0
    return _sets(s, methods) * (_arms(s) + 2 + kept_leaves)


def _search_to_tune(s: CldybSettings, methods: int, unit: UnitCosts) -> int:
    """Trainings of the search for the tasks to tune on (``--tune-on first``)."""
    if not s.tune_tasks or s.tune_on != "first":
        return 0
    alone = replace(s, separate=False, leave_one_out=False, searches=1, tune_tasks=0, grow=())
    return estimate(replace(alone, tasks=s.tune_tasks, extended_from=()), methods, unit).search


def _draws(s: CldybSettings) -> _Draws:
    n = s.random_sequences if s.baseline == "greedy" else 0
    return _Draws(n, n * (s.tasks - 1), n * s.tasks * (s.tasks - 1) // 2)


def _of_search(s: CldybSettings) -> tuple[int, int, int]:
    """Of one search with one method: trainings from kept states, trainings without such, rollouts."""
    arms = _arms(s)
    search = naive = rollouts = 1
    for t in range(2, s.tasks + 1):
        ahead = s.lookahead_at(t) if s.selector == "mcts" and s.condensed > 1 else 0
        simulations = s.simulations if ahead else arms
        joints = simulations * (ahead + 1) if s.reward == "gap-to-joint" else 0
        search += arms + simulations * ahead + joints
        naive += simulations * (t + ahead) + joints + t
        rollouts += simulations + joints + 1
    return search, naive, rollouts


def _arms(s: CldybSettings) -> int:
    """Candidates that are evaluated at a step."""
    return min(s.condensed, s.simulations) if s.selector == "mcts" else 1


def _of_ours(unit: UnitCosts, methods: int) -> float:
    """Seconds of a training, mean over the methods that are no commands."""
    own = methods - unit.commands
    return (unit.seconds * methods - unit.command_seconds * unit.commands) / own if own else 0.0


def costs_of_commands(settings: CldybSettings, methods: int, named: Sequence[str]) -> str:
    """Describe, as a sentence, the trainings that a search with the ``named`` commands takes."""
    cost, ours = estimate(settings, methods, UnitCosts(commands=len(named))), estimate(settings, methods)
    return (
        f"{', '.join(named)} in a search: a command keeps no state, so that it learns every candidate from the first task on: "
        f"{cost.command_runs:,} runs; the search takes up to {cost.search:,} trainings of a task, with methods that keep states "
        f"{ours.search:,}"
    )


def refuse_commands(study: CldybStudy) -> None:
    """Refuse studies that commands cannot serve, or that need explicit consent to search with commands.

    Raises:
        UserError: commands would search without ``--search-commands``; or the reward or tuning needs outputs or
            parameters that commands do not have.
    """
    _refuse_impossible(study)
    s = study.settings
    if not s.search_commands and (searching := commands(study.searchers)):
        raise UserError(
            f"{costs_of_commands(s, len(study.methods), searching)}; add --search-commands if that is meant (--dry-run prints "
            "the hours), or search with others (--surrogate), or evaluate it on what was found for others (seqsearch score)"
        )


def _refuse_impossible(study: CldybStudy) -> None:
    """Raises UserError: the reward or tuning needs outputs or parameters that commands do not have."""
    s, named = study.settings, commands((*study.methods, *study.surrogates))
    if named and s.reward == "gap-to-joint":
        raise UserError(f"--reward gap-to-joint: {named[0]} is a command, which does not say which classes are right")
    if named and s.tune_tasks:
        raise UserError(f"--tune-tasks: {named[0]} is a command, which has no parameters that are known here")


def cost(study: CldybStudy, workers: int, scratch: Path) -> Cost:
    """See `protocols.running.protocol.Protocol.cost`; of the surrogates' trainings the time is their own."""
    _refuse_impossible(study)
    s = study.settings
    if line := preflight_warnings(study):
        notice(line)
    unit, instead = _measured(study, scratch), None
    if study.surrogates:
        instead = _measured(replace(study, methods=study.surrogates), scratch)
    most = estimate(s, len(study.methods), unit, workers, instead, len(study.jointly))
    parts = [
        f"{most.search} search" + (f" by the surrogates, at {each(instead.seconds)} each" if instead else ""),
        f"{most.scoring} scoring",
        f"{most.random} random baseline",
        *([f"{most.joint} on all classes at once"] if most.joint else []),
        *([f"{most.tuning} tuning"] if most.tuning else []),
    ]
    seconds = {"seconds_per_training": unit.seconds}
    if instead:
        seconds["seconds_per_surrogate_training"] = instead.seconds
    disk = "under 1 MB" if most.disk_bytes < 1e6 else f"{most.disk_bytes / 1e6:,.0f} MB"
    return Cost(
        f"{counted(most.trainings, 'training')} at most ({', '.join(parts)}; naive retraining: {most.naive})",
        most.hours,
        most.workers,
        f"at {each(unit.seconds)} a training on this machine{BESIDE}",
        {**asdict(most), "trainings": most.trainings, **seconds},
        (f"{disk} of disk at most", *_verdict(s)),
        max((u.memory for u in (unit, instead) if u and u.memory), key=lambda need: need.bytes, default=None),
    )


def _verdict(s: CldybSettings) -> Iterator[str]:
    """Whether the random sequences allow a verdict; nothing where all sequences are one task."""
    if s.tasks == 1:
        return
    if not s.random_sequences:
        yield "no random sequences: no verdict, and no drop"
        return
    more = (fewest := fewest_random(s.searches)) - s.random_sequences
    said = f"needs {more} more random sequences" if more > 0 else f"is possible (from {fewest} random sequences on)"
    how = "seqsearch power RUN reports how large a difference a study detects"
    yield f"a verdict on {counted(s.searches, 'search')} {said}; {how}"


def expected(study: CldybStudy) -> Expected:
    """Return an upper bound of the rollouts and trainings of a session."""
    by_command = UnitCosts(commands=len(commands(study.searchers)))
    most = estimate(study.settings, len(study.methods), by_command, jointly=len(study.jointly))
    return Expected(most.rollouts, most.trainings, study.settings.tasks)


def remarks(study: CldybStudy) -> str:
    """Settings that are without effect, and what commands in the search cost."""
    named = commands(study.searchers)
    costs = costs_of_commands(study.settings, len(study.methods), named) if named else ""
    return " ".join(filter(None, (preflight_warnings(study), costs)))


def _measured(study: CldybStudy, scratch: Path) -> UnitCosts:
    s, classes = study.settings, len(study.view.class_ids)
    [tasks] = random_sequences(study.first, study.view, min(2, s.tasks), s.classes_per_task, 1, s.seed)
    unit = unit_costs(study, tasks, "test", scratch, s.tasks)
    per_class = sum(min(len(study.world.split.rows(0, part)), s.knn_images) for part in ("train", "reward"))
    looked_at = classes * s.probe_images + min(s.candidates * s.classes_per_task, classes) * per_class
    dims = sum(study.world.backbone(m.backbone).dim for m in study.methods)
    return replace(unit, probe_seconds=looked_at * unit.image_seconds, probe_bytes=4 * dims * classes)
