"""What a block makes of being interrupted at the deadline does not count."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from seqsearch.core import deadline
from seqsearch.core.deadline import Deadline, TimeIsUp, ends_session


def waits() -> None:
    time.sleep(100)


def turns_it_into_another() -> None:
    try:
        waits()
    except BaseException:
        raise ValueError("caught") from None


def swallows_it() -> None:
    try:
        waits()
    except BaseException:
        return


def leaves_the_process() -> None:
    try:
        waits()
    finally:
        raise SystemExit(3)


@pytest.mark.parametrize("block", [waits, turns_it_into_another, swallows_it, leaves_the_process])
def test_its_time_is_up_whatever_the_block_makes_of_that(block: Callable[[], None]) -> None:
    with pytest.raises(TimeIsUp), Deadline(0.05).interrupting():
        block()
    assert not ends_session(ValueError())
    deadline.check()


def test_one_that_waits_counts_from_the_first_block_on() -> None:
    now = [0.0]
    waiting = Deadline(10, lambda: now[0], waits=True)
    now[0] = 1000.0
    assert (waiting.counts, waiting.left()) == (False, 10)
    with waiting.interrupting():
        assert (waiting.counts, waiting.left()) == (True, 10)
        now[0] = 1004.0
    with waiting.interrupting():
        assert waiting.left() == 6, "it begins once"
    now[0] = 1010.0
    with pytest.raises(TimeIsUp), waiting.interrupting():
        raise AssertionError("it has passed")
    assert Deadline().counts


def test_meanwhile_all_that_is_raised_ends_the_session() -> None:
    def block() -> None:
        assert not ends_session(ValueError())
        swallows_it()
        assert ends_session(ValueError())
        with pytest.raises(TimeIsUp):
            deadline.check()
        passed.append(True)

    passed: list[bool] = []
    with pytest.raises(TimeIsUp), Deadline(0.05).interrupting():
        block()
    assert passed


def test_an_inner_block_ends_alone() -> None:
    with Deadline(100).interrupting():
        with pytest.raises(TimeIsUp), Deadline(0.05).interrupting():
            swallows_it()
        deadline.check()
    with pytest.raises(ValueError, match="its own"), Deadline(100).interrupting():
        raise ValueError("its own")


def test_what_is_raised_in_time_is_passed_on_in_another_thread_too() -> None:
    found: list[BaseException] = []

    def run() -> None:
        try:
            with Deadline(100).interrupting():
                raise ValueError("its own")
        except ValueError as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(found) == 1


def test_one_that_passes_as_a_block_ends_is_not_lost() -> None:
    """Blocks that end within a tenth of a millisecond of their deadline: some are in time, for others it is up."""
    in_time = up = 0
    for i in range(2000):
        end = time.perf_counter() + 1e-3 + (i % 100 - 75) * 2e-6
        try:
            with Deadline(1e-3).interrupting():
                while time.perf_counter() < end:
                    pass
            in_time += 1
        except TimeIsUp:
            up += 1
    assert in_time
    assert up
