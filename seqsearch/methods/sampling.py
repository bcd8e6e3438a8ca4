"""Settings of a method to try: its defaults, and draws from the search space that it declares."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from seqsearch.core.digests import seed_of
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Value
from seqsearch.methods.base import Method
from seqsearch.methods.config import Conflict, LogUniform, build_config, space_of

DIGITS = 3
"""Significant digits of a drawn number: what is printed is what was used."""
ATTEMPTS = 20
"""Draws for each setting asked for: some were drawn before, or break a rule between parameters."""


Spaces = Mapping[str, LogUniform | tuple[Any, ...]]
"""By parameter: what is drawn from."""


def search_space(
    method: type[Method], fixed: Mapping[str, Value], backbone: str = "", instead: Spaces = MappingProxyType({})
) -> dict[str, LogUniform | tuple[Any, ...]]:
    """Return the space of each tunable parameter with a backbone, except for parameters that the user has ``fixed``.

    ``instead``: spaces that take the place of the method's own.
    """
    spaces = {f.name: space_of(f, backbone) for f in dataclasses.fields(method.Config)} | dict(instead)
    return {name: space for name, space in spaces.items() if space is not None and name not in fixed}


def proposals(
    method: type[Method],
    fixed: Mapping[str, Value],
    count: int,
    seed: int,
    backbone: str = "",
    *,
    defaults: bool = True,
    instead: Spaces = MappingProxyType({}),
) -> list[dict[str, Value]]:
    """At most ``count`` distinct settings as parameters to add to ``fixed``; the first adds nothing, unless without ``defaults``.

    They depend on the seed, the space (`search_space`) and nothing else; fewer than asked for if the space has no more. A method
    without a space has one: its defaults. Draws that break a rule between parameters are left out.

    Raises:
        UserError: the method declares values that it does not accept itself.
    """
    space = search_space(method, fixed, backbone, instead)
    defaults = defaults or not space
    found: list[dict[str, Value]] = [{}] if defaults else []
    known = [build_config(method, fixed, backbone)] if defaults else []
    draw = np.random.default_rng(seed_of("tuning", seed))
    for _ in range(ATTEMPTS * count if space else 0):
        params = {name: plain(_drawn(space[name], draw), space[name]) for name in sorted(space)}
        try:
            config = build_config(method, {**fixed, **params}, backbone)
        except Conflict:
            continue
        except UserError as error:
            raise UserError(f"search space of method {method.__name__}: {error}") from None
        if config not in known and len(found) < count:
            known.append(config)
            found.append(params)
    return found


def _drawn(space: LogUniform | tuple[Any, ...], draw: np.random.Generator) -> Any:
    if isinstance(space, LogUniform):
        return math.exp(draw.uniform(math.log(space.low), math.log(space.high)))
    return space[draw.integers(len(space))]


def plain(value: Any, space: LogUniform | tuple[Any, ...]) -> Value:
    """A drawn value as it is printed and used: a float has `DIGITS` significant ones, and lies within its space."""
    if isinstance(value, float):
        rounded = float(f"{value:.{DIGITS}g}")
        return min(max(rounded, space.low), space.high) if isinstance(space, LogUniform) else value
    plain: Value = value.item() if hasattr(value, "item") else value
    return plain
