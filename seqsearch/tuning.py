"""Settings of a method to try: its defaults, and draws from the search space that it declares."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from seqsearch.digests import seed_of
from seqsearch.errors import UserError
from seqsearch.grammar import Value
from seqsearch.methods.base import LogUniform, Method, build_config

DIGITS = 3
"""Significant digits of a drawn number: what is printed is what was used."""


def search_space(method: type[Method], fixed: Mapping[str, Value]) -> dict[str, LogUniform | tuple[Any, ...]]:
    """What is drawn from for each tunable parameter; those that the user has ``fixed`` are not."""
    spaces = {f.name: f.metadata.get("search") for f in dataclasses.fields(method.Config)}
    return {name: space for name, space in spaces.items() if space is not None and name not in fixed}


def proposals(method: type[Method], fixed: Mapping[str, Value], count: int, seed: int) -> list[dict[str, Value]]:
    """At most ``count`` distinct settings as parameters to add to ``fixed``; the first adds nothing.

    They depend on the seed, the method's space and nothing else; fewer than asked for if the space has no more. A method
    without a space has one: its defaults.

    Raises:
        UserError: the method declares values that it does not accept itself.
    """
    from scipy.stats import loguniform
    from sklearn.model_selection import ParameterSampler

    space = search_space(method, fixed)
    found: list[dict[str, Value]] = [{}]
    known = [build_config(method, fixed)]
    grid = all(isinstance(s, tuple) for s in space.values())
    size = 1
    for s in space.values():
        size *= len(s) if isinstance(s, tuple) else 1
    draws = {n: list(s) if isinstance(s, tuple) else loguniform(s.low, s.high) for n, s in space.items()}
    number = min(count, size) if grid else count
    if not space:
        return found
    for drawn in ParameterSampler(draws, number, random_state=seed_of("tuning", seed) % 2**32):
        params = {n: _plain(v) for n, v in sorted(drawn.items())}
        try:
            config = build_config(method, {**fixed, **params})
        except UserError as error:
            raise UserError(f"search space of method {method.__name__}: {error}") from None
        if config not in known and len(found) < count:
            known.append(config)
            found.append(params)
    return found


def _plain(value: Any) -> Value:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    plain: Value = value.item() if hasattr(value, "item") else value
    return plain
