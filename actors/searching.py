"""Proposals of hyperparameter settings by Optuna, through Ray Tune's searcher.

Proposals are requested between rounds of trials. Optuna is given the scores of earlier trials in the order of trials, not in the
order in which they ended.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from seqsearch.core.digests import seed_of
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Value
from seqsearch.core.types import MethodSpec
from seqsearch.methods.config import Conflict, LogUniform, build_config
from seqsearch.methods.sampling import plain
from seqsearch.methods.spec import build_of

ATTEMPTS = 20
"""Suggestions that are drawn for each setting that is wanted. Some break a rule between parameters, or were tried before."""
SCORE = "score"
Space = Mapping[str, LogUniform | tuple[Any, ...]]


def check_optuna() -> None:
    """Raises UserError: Optuna is not installed."""
    if find_spec("optuna") is None:
        raise UserError("--searcher optuna needs Optuna: pip install 'optuna>=4'")


def suggested(
    method: MethodSpec,
    space: Space,
    known_scores: Sequence[tuple[Mapping[str, Value], float]],
    count: int,
    seed: int,
    draws: int,
) -> list[dict[str, Value]]:
    """``count`` settings that Optuna (TPE, through Ray Tune's ``OptunaSearch``) proposes; fewer if it proposes too few that are
    valid and new.

    They are a function of the arguments. The file of a custom method counts by its name, not by its folder.

    Args:
        known_scores: earlier settings and their scores. NaN (the setting diverged) counts as 0.
        count: number of settings wanted.
        draws: until this number of scores is known, proposals are random.
    """
    import optuna
    from ray import tune
    from ray.tune.search.optuna import OptunaSearch

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    logging.getLogger("ray.tune").setLevel(logging.ERROR)
    domains = {
        name: tune.loguniform(s.low, s.high) if isinstance(s, LogUniform) else tune.choice(list(s))
        for name, s in sorted(space.items())
    }
    name = method.target.rpartition("/")[2]
    sampler = optuna.samplers.TPESampler(
        n_startup_trials=draws, seed=seed_of("optuna", seed, name, len(known_scores)) % 2**32
    )
    search = OptunaSearch(domains, metric=SCORE, mode="max", sampler=sampler)
    for params, score in known_scores:
        search.add_evaluated_point(dict(params), 0.0 if math.isnan(score) else score)
    return _valid(search, method, space, [p for p, _ in known_scores], count)


def _valid(
    search: Any, method: MethodSpec, space: Space, known: Sequence[Mapping[str, Value]], count: int
) -> list[dict[str, Value]]:
    """The first ``count`` proposals of a searcher that break no rule between parameters and are new."""
    build, fixed, found = build_of("method", method.target), dict(method.params), list[dict[str, Value]]()
    configs = [build_config(build, {**fixed, **p}, method.backbone) for p in known]
    for number in range(ATTEMPTS * count):
        params = {name: plain(value, space[name]) for name, value in sorted(search.suggest(f"{number:06d}").items())}
        try:
            config = build_config(build, {**fixed, **params}, method.backbone)
        except Conflict:
            continue
        if config not in configs:
            configs.append(config)
            found.append(params)
        if len(found) == count:
            break
    return found
