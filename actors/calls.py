"""Functions called on a connected Ray as plain Ray tasks, not on the workers of the fleet: for work that needs no models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError, RayTaskError

from actors import health
from actors.faults import KILLED, MAX_RETRIES, cause_of
from seqsearch.core import stop
from seqsearch.core.errors import UserError

A = TypeVar("A")
B = TypeVar("B")


def on_ray(function: Callable[[A], B], arguments: Sequence[A]) -> list[B]:
    """``[function(a) for a in arguments]``, each call on a core of its own. A call whose process died is made again.

    Raises:
        UserError: a call has killed every process that it was made in.
        EngineDied: Ray itself has died.
    """
    remote = ray.remote(num_cpus=1, max_retries=0)(function)
    numbers = range(len(arguments))
    found = dict(results_of(lambda n: remote.remote(arguments[n]), numbers, len(arguments), function.__name__))
    return [found[n] for n in numbers]


def results_of(call: Callable[[A], Any], arguments: Iterable[A], at_once: int, what: str) -> Iterator[tuple[A, Any]]:
    """Make calls, at most ``at_once`` at a time; yields each argument with its result, in the order in which the calls end.

    A call whose process dies is made again, `MAX_RETRIES` times. ``call`` must set ``max_retries=0``: Ray itself retries for ever
    after it has killed a process for lack of memory.

    Args:
        call: starts the Ray task of an argument and returns its reference.
        arguments: of the calls.
        at_once: most calls at a time.
        what: names a call in messages.

    Raises:
        UserError: a call has killed every process that it was made in.
        EngineDied: Ray has died.
        Exception: the exception that a call has raised.
    """
    left, running, deaths = iter(arguments), dict[Any, A](), dict[A, int]()
    try:
        while True:
            running |= {call(a): a for a in islice(left, at_once - len(running))}
            if not running:
                return
            stop.check()
            health.check()
            for done in ray.wait(list(running), num_returns=1, timeout=1.0)[0]:
                argument = running.pop(done)
                try:
                    yield argument, ray.get(done)
                except RayTaskError as error:
                    raise cause_of(error) from None
                except RayError:
                    health.check()
                    deaths[argument] = deaths.get(argument, 0) + 1
                    if deaths[argument] > MAX_RETRIES:
                        raise UserError(f"{what} {KILLED}; use fewer --workers, then resume") from None
                    running[call(argument)] = argument
    finally:
        if not health.cause_of_death():
            for unfinished in running:
                ray.cancel(unfinished, force=True)
