"""Provenance of the images and hyperparameters of a run: read from its ``config.json``, and checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from seqsearch.core.errors import UserError
from seqsearch.core.typed import built, fits
from seqsearch.pools.stand_in import has_mark

CIRCULAR = (
    "Hyperparameters were tuned on the first tasks of a searched sequence (--tune-on first, the paper's way): the methods are "
    "evaluated on tasks that they were tuned on, and all tasks but the first had been chosen to be hard for their defaults."
)
REWARDED_ON_TEST = "The search was rewarded on the test images that it is scored on (--reward-split test): biased."
SEPARATED = (
    "Found sequences are those of a duel: each was searched to be worse for one method than for the other, which is therefore "
    "not held out of it, but favoured."
)
STAND_IN = "This run used STAND-IN DATA (reproduce --miniature): its figures mean nothing and compare with no published figure."
PLACEBO = (
    "Placebo: rewards were shuffled among the candidates of each step (--reward shuffled), so that the search could not learn. "
    "Its sequences check the verdict, and are no benchmark."
)
BASELINES = {
    "within-group": (
        "Random sequences are no draw from the whole pool: each task after the first lies within one group of classes "
        "(--baseline within-group)."
    ),
    "greedy": (
        "Random sequences are no draw from the whole pool: each task after the first is a random choice of the candidates that a "
        "search would have evaluated there (--baseline greedy)."
    ),
}
"""Statements on random sequences by ``--baseline``; uniform ones need none."""
CHANGEABLE = "files-"
"""Beginning of the digest of a pool that is known by path, size and time of its files."""


@dataclass(frozen=True)
class PoolRecord:
    """Recorded facts about a pool: its classes, those in play, the step from which it is there, and excluded groups."""

    pool: str
    digest: str
    from_step: int
    classes: int
    in_play: int
    images: int
    split: str
    excluded_groups: tuple[str, ...]

    @property
    def by_content(self) -> bool:
        """It is known by its content, not by path, size and time of its files."""
        return not self.digest.startswith(CHANGEABLE)


@dataclass(frozen=True)
class TuningRecord:
    """Parameters chosen by method, without those that were given, on how many tasks, and whether these were the first of a
    searched sequence."""

    chosen: Mapping[str, Mapping[str, Any]]
    tasks: int
    on_first: bool


@dataclass(frozen=True)
class Provenance:
    """Pools, the lengths that an extended run had before and has now, and tuning if there was any."""

    pools: tuple[PoolRecord, ...] = ()
    lengths: tuple[int, ...] = ()
    tuning: TuningRecord | None = None


@dataclass(frozen=True)
class Search:
    """Settings of the search that the verdict on found sequences depends on.

    They are the kind of random sequences (``--baseline``) and the extreme that the search looks for. ``end`` is
    ``easier`` with ``--difficulty easy``.
    """

    baseline: Literal["uniform", "within-group", "greedy"] = "uniform"
    end: Literal["harder", "easier"] = "harder"


def provenance(config: Mapping[str, Any]) -> Provenance:
    """Of a run.

    Raises:
        UserError: something else stands there.
    """
    return Provenance(_pools(config), _lengths(config), _tuning(config))


def biases(config: Mapping[str, Any]) -> list[str]:
    """Return the biases of figures on the sequences of a run.

    They also hold for methods that were scored on these sequences later. A run that used the sequences of another run
    stores their biases itself (``identity.biases``).
    """
    settings, identity = config.get("settings"), config.get("identity")
    said = settings if isinstance(settings, dict) else {}
    inherited = identity.get("biases") if isinstance(identity, dict) else None
    found = [str(b) for b in inherited] if isinstance(inherited, list) else []
    if stand_in(config):
        found.append(STAND_IN)
    if said.get("reward_split") == "test":
        found.append(REWARDED_ON_TEST)
    if config.get("tuned") and said.get("tune_on") == "first":
        found.append(CIRCULAR)
    if config.get("protocol") == "duel" and said.get("find") in ("a", "b", "both"):
        found.append(SEPARATED)
    if said.get("reward") == "shuffled":
        found.append(PLACEBO)
    if said.get("random_sequences") and said.get("baseline") in BASELINES:
        found.append(BASELINES[said["baseline"]])
    return list(dict.fromkeys(found))


def search_of(config: Mapping[str, Any]) -> Search:
    """Of a run, or of the run that it took its sequences from (``identity.search``); the default where nothing is stated."""
    settings, identity = config.get("settings"), config.get("identity")
    if config.get("protocol") == "cldyb" and isinstance(settings, dict):
        easy = settings.get("temperature") == math.inf
        stated: Any = {"baseline": settings.get("baseline", "uniform"), "end": "easier" if easy else "harder"}
    else:
        stated = identity.get("search") if isinstance(identity, dict) else None
    return built(stated, Search) if fits(stated, Search) else Search()


def stand_in(config: Mapping[str, Any]) -> bool:
    """Whether a run, or a run whose sequences it uses, is on stand-in data."""
    identity = config.get("identity")
    inherited = identity.get("biases") if isinstance(identity, dict) else None
    return has_mark(identity) or (isinstance(inherited, list) and STAND_IN in inherited)


def _pools(config: Mapping[str, Any]) -> tuple[PoolRecord, ...]:
    identity = config.get("identity")
    pools = identity.get("pools", []) if isinstance(identity, dict) else []
    if not isinstance(pools, list) or not all(isinstance(p, dict) for p in pools):
        raise UserError("config.json: identity.pools is not as it was written: restore it")
    kinds = PoolRecord.__annotations__
    for p in pools:
        if not fits({n: p.get(n) for n in kinds}, PoolRecord):
            raise UserError("config.json: a pool in identity.pools is not as it was written: restore it")
    return tuple(built({n: p[n] for n in kinds}, PoolRecord) for p in pools)


def _lengths(config: Mapping[str, Any]) -> tuple[int, ...]:
    settings = config.get("settings") or {}
    before = settings.get("extended_from") if isinstance(settings, dict) else None
    if not before:
        return ()
    if not fits(before, tuple[int, ...]) or not fits(settings.get("tasks"), int):
        raise UserError("config.json: extended_from or tasks is not as it was written: restore it")
    return (*before, settings["tasks"])


def _tuning(config: Mapping[str, Any]) -> TuningRecord | None:
    tuned, settings = config.get("tuned"), config.get("settings")
    if not tuned:
        return None
    whole = isinstance(tuned, dict) and all(isinstance(p, dict) for p in tuned.values())
    if not whole or not isinstance(settings, dict) or not fits(settings.get("tune_tasks"), int):
        raise UserError("config.json: what was tuned is not as it was written: restore it")
    added = {m: {n: v for n, v in own.items() if _given(config, m).get(n) != v} for m, own in tuned.items()}
    return TuningRecord(added, settings["tune_tasks"], settings.get("tune_on") == "first")


def _given(config: Mapping[str, Any], label: str) -> dict[str, Any]:
    """The parameters of a method that the user gave, so that they were not tuned, as far as it is said which."""
    said: Any = config
    for name in ("identity", "methods", label, "params"):
        said = said.get(name) if isinstance(said, dict) else None
    return said if isinstance(said, dict) else {}
