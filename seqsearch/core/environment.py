"""Variables of the environment of this process: compared, and put back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

KEPT = b"RAY_AUTH_MODE"
"""Ray sets this variable when it first starts in a process, and keeps to it until the process ends: without the variable, another
Ray that the process starts would ask for no token, while the process asks for one."""


def environment() -> dict[Any, Any]:
    """Of this process, in the encoding of the system: to decode it would take longer than all else that is compared."""
    return dict(vars(os.environ)["_data"])


def changed_variables(before: Mapping[Any, Any]) -> list[str]:
    """Names of variables of the environment that were changed or removed; not of new ones: libraries set some when imported."""
    now = environment()
    return [os.fsdecode(name) for name, value in before.items() if now.get(name) != value] if now != before else []


def restore_environment(before: Mapping[Any, Any]) -> list[str]:
    """Put the environment back; names of `changed_variables`."""
    if vars(os.environ)["_data"] == before:
        return []
    changed = changed_variables(before)
    for name in environment().keys() - before.keys():
        del os.environ[os.fsdecode(name)]
    for variable in changed:
        os.environ[variable] = os.fsdecode(before[os.fsencode(variable)])
    return changed


@contextmanager
def environment_restored() -> Iterator[None]:
    """A block after which the environment is as before, but for `KEPT`, which stays as Ray set it."""
    before = environment()
    try:
        yield
    finally:
        restore_environment({**before, **{name: value for name, value in environment().items() if name == KEPT}})
