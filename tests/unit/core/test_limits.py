"""Every number that can be given has a documented bound: settings, options of the engine, of commands, parameters of pools.

(Parameters of methods: ``tests/conformance/test_methods.py``.) All are found, none is listed here.
"""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import math
import typing
from collections.abc import Iterator
from typing import Any

import click
import pytest

from actors.options import EngineOptions
from protocols.cldyb.settings import CldybSettings
from protocols.cli.main import main
from protocols.cli.types import Measured, Number, Whole
from protocols.edge.plan_settings import EdgePlanSettings
from protocols.edge.settings import EdgeSettings
from protocols.running.protocol import protocols
from seqsearch.core import limits, paths, text
from seqsearch.core.errors import UserError
from seqsearch.core.registry import load, names
from seqsearch.core.settings import setting
from seqsearch.core.units import duration, size

TOO_MUCH = ("9" * 400, "9" * 5000, "1000000000000000000000", "-1000000000000000000000", "nan", "10XB", "")


def test_doctests() -> None:
    assert all(doctest.testmod(module).failed == 0 for module in (limits, paths, text))


def test_a_number_without_bounds_is_no_setting() -> None:
    with pytest.raises(TypeError, match="needs a minimum and a maximum: Tasks"):
        setting(5, "Tasks.", minimum=1, group="what")


RECORDS = [*(p.settings for p in protocols().values()), EngineOptions]


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: r.__name__)
def test_every_number_of_a_record_has_bounds(record: Any) -> None:
    kinds, found = typing.get_type_hints(record), 0
    for f in dataclasses.fields(record):
        if {int, float} & {kinds[f.name], *typing.get_args(kinds[f.name])} and f.name != "extended_from":
            low, high = f.metadata.get("minimum"), f.metadata.get("maximum")
            assert low is not None, f.name
            assert high is not None, f.name
            assert f.default is None or low <= f.default <= high, f.name
            assert math.isfinite(low), f.name
            assert math.isfinite(high) or "inf" in f.metadata["help"], f.name
            found += 1
    assert found >= 3


def commands(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


COMMANDS = dict(commands(main))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_number_of_a_command_is_bounded_and_refused_by_its_flag(name: str) -> None:
    for option in COMMANDS[name].params:
        assert not isinstance(option.type, click.types.FuncParamType), option.name
        if isinstance(option.type, (click.types.IntParamType, click.types.FloatParamType)):
            assert isinstance(option.type, (Whole, Number)), option.name
            assert None not in (option.type.min, option.type.max), option.name
        elif not isinstance(option.type, Measured):
            continue
        unbounded = getattr(option.type, "max", 0) == math.inf
        for wrong in TOO_MUCH[-4:] if unbounded else TOO_MUCH:
            with pytest.raises(UserError) as error:
                option.type.convert(wrong, option, None)
            assert str(error.value).startswith(f"{option.opts[0]} ")
            assert len(str(error.value)) < 200


def test_bounds_are_in_the_help() -> None:
    said = COMMANDS["cldyb"].get_help(click.Context(COMMANDS["cldyb"]))
    assert "1<=x<=1000000]" in " ".join(said.split())
    assert all(text in said for text in ("520w", "1048576TB"))


@pytest.mark.parametrize("kind", names("pool"))
def test_every_number_of_a_pool_is_bounded(kind: str) -> None:
    build = load("pool", kind)
    given = {"path": "nowhere"} if "path" in inspect.signature(build).parameters else {}
    for name, parameter in inspect.signature(build).parameters.items():
        if isinstance(parameter.default, int | float) and not isinstance(parameter.default, bool):
            for wrong in (10**400, 10**19, -1, math.nan, math.inf, "9" * 5000, True):
                with pytest.raises(UserError, match=rf"{name}=.* must be") as error:
                    build(**given, **{name: wrong})
                assert len(str(error.value)) < 300


@pytest.mark.parametrize("wrong", ["99999999999999999999w", "9" * 400, "1e9", "\u0663s", "521w", "0"])
def test_absurd_durations(wrong: str) -> None:
    with pytest.raises(UserError, match=r"is no duration: write|must be more than 0 and at most 520w"):
        duration(wrong)
    assert duration("520w") == 314496000


@pytest.mark.parametrize("wrong", ["9" * 400, "10XB", "1048577TB", "0"])
def test_absurd_sizes(wrong: str) -> None:
    with pytest.raises(UserError, match=r"is no size: write|must be at most 1048576TB"):
        size(wrong)
    assert size("1048576TB") == 1 << 60


MANY = {"methods": "er,lwf", "tasks": 10}


@pytest.mark.parametrize(
    ("record", "values", "said"),
    [
        (CldybSettings, {"random_sequences": 100_000, "tasks": 100},
         "--random-sequences 100000 x --tasks 100 x methods 2 = 20,000,000 trainings: at most 10,000,000"),
        (CldybSettings, {"simulations": 1_000_000, "lookahead": 3},
         "--simulations 1000000 x --lookahead 3 x --tasks 10 x methods 2 = 60,000,000 trainings"),
        (CldybSettings, {"searches": 1000, "score_seeds": 1000}, "--searches 1000 x --score-seeds 1000 x --tasks 10 x methods 2"),
        (CldybSettings, {"tune_tasks": 1000, "tune_trials": 10_000}, "--tune-trials 10000 x --tune-tasks 1000 x methods 2"),
        (EdgeSettings, {"score_seeds": 1000, "crossed_orders": 100_000}, "--crossed-orders 100000 x --score-seeds 1000"),
        (EdgeSettings, {"score_seeds": 1000, "extremes": 1000}, "--extremes 1000 x hard and easy 2 x --score-seeds 1000"),
        (EdgeSettings, {"enumerate": True, "enumerate_limit": 1_000_000}, "--enumerate-limit 1000000 x --score-seeds 3"),
        (EdgePlanSettings, {"moves": 100_000_000, "restarts": 1000, "extremes": 10},
         "--moves 100000000 x --restarts 1000 x --extremes 10 = 1,000,000,000,000 moves: at most 100,000,000,000"),
    ],
)  # fmt: skip
def test_products_of_settings_are_bounded(record: Any, values: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        record(**{n: v for n, v in {**MANY, **values}.items() if n in {f.name for f in dataclasses.fields(record)}})
    assert said in str(error.value)


def test_workers_of_this_machine_are_bounded_and_those_of_a_cluster_more_so() -> None:
    for workers in (10**12, 99_999):
        with pytest.raises(
            UserError, match=rf"--workers {workers}: (must be at most 100000|at most \d+ start on this)"
        ):
            EngineOptions(workers=workers)
    assert EngineOptions(workers=99_999, address="auto").workers == 99_999
    with pytest.raises(UserError, match=r"--gpus-per-worker 1.5: above 1 it must be a whole number"):
        EngineOptions(gpus_per_worker=1.5)


def test_a_long_message_is_cut() -> None:
    assert len(str(UserError("a" * 10**6))) == 2000


@pytest.mark.parametrize("text", ["0." + "3" * 70 + "h", "1" + " " * 70 + "GB", "1" * 70])
def test_a_quantity_is_never_read_in_part(text: str) -> None:
    for read in (duration, size):
        with pytest.raises(UserError):
            read(text)


def test_half_a_character_is_no_text() -> None:
    assert "lone surrogate" in limits.wrong_text("\ud800.py:X")
    assert not limits.wrong_text("caf\udce9.py:X")  # a byte of a file name
