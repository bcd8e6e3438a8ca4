"""Extreme values in every flag, every key of ``--config`` and every parameter of an item, through the real command line.

A run is prepared in full; where it would begin to compute, it is stopped. Whatever is given: no traceback, one line, exit code 2,
and no run folder stays. Flags, keys and parameters are found, none is listed here.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import protocols.running.run
from protocols.cli.main import main
from seqsearch.core.errors import UserError
from seqsearch.core.registry import load, names
from tests.lines import messages

DOOR = "seqsearch: here it would compute\n"
BASE = {
    "cldyb": ["--methods", "simplecil", "--pool", "glyphs:classes=12", "--tasks", "2", "--classes-per-task", "3"],
    "edge": ["--methods", "simplecil", "--pool", "glyphs:classes=12", "--tasks", "2", "--similarity", "names"],
}
EXTREMES = [
    "9" * 400, "9" * 5000, "-" + "9" * 400, "1000000000", "1" + "0" * 12, "1" + "0" * 19, "-1", "0", "1e18", "1e400", "nan",
    "inf", "-inf", "", " ", "a" * 100_000, "," * 500, ":" * 500, "a:b=c," * 9000, "\x1b[31m\n\r\x07", "\u202egpj.exe", "\udcff",
    "é" * 99, "[[[[", "{a: 1}", "null", "10XB", "99999999999999999999w",
    "0x10", "1_000", "\u0663", "-0", "1.5", "a=", "@", "a@b", "=1", "s3://",
    "ray://", "simplecil,simplecil", "glyphs:train=1000000000", "er:epochs=1000000000000", "mean:0.01", "names",
]  # fmt: skip
ARGUMENTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20)
"""No argument holds a null character (a file can), nor a surrogate that stands for no byte; one that does is in `EXTREMES`."""
extremes = st.one_of(st.sampled_from(EXTREMES), st.integers().map(str), st.floats().map(str), ARGUMENTS)
FEW = settings().derandomize
"""`make test` draws few, `make test-long` many."""


def some(few: int, many: int) -> Any:
    return settings(max_examples=few if FEW else many, suppress_health_check=list(HealthCheck), deadline=None)


def options(command: str) -> list[str]:
    found = main.get_command(click.Context(main), command)
    assert found is not None
    return [
        o.opts[0] for o in found.params if isinstance(o, click.Option) and o.name not in ("config", "out", "resume")
    ]


FLAGS = [(command, flag) for command in BASE for flag in options(command)]
PARAMETERS = [
    *(("--methods", f"{m}:{f.name}") for m in names("method") for f in dataclasses.fields(load("method", m).Config)),
    *(("--pool", f"{p}:{name}") for p in names("pool") for name in inspect.signature(load("pool", p)).parameters),
]


@pytest.fixture(autouse=True)
def door(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    def stop(*_: object, **__: object) -> NoReturn:
        raise UserError(DOOR.removeprefix("seqsearch: ").strip())

    monkeypatch.setattr(protocols.running.run, "run", stop)
    monkeypatch.chdir(tmp_path)
    yield
    assert not [p for p in tmp_path.rglob("*") if p.name != "study.yaml" and p.is_file()], "something was made"


def refused(result: Result) -> str:
    """What was said, in one line."""
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code == 2, result.output
    [said] = messages(result.stderr)
    assert said.startswith("seqsearch: "), result.stderr
    assert len(said) < 2100
    assert "\x1b" not in said
    return said


def call(command: str, *more: str) -> str:
    return refused(CliRunner().invoke(main, [command, *BASE[command], "--quiet", *more]))


@some(80, 1500)
@given(st.sampled_from(FLAGS), extremes)
def test_flags(where: tuple[str, str], value: str) -> None:
    command, flag = where
    call(command, f"{flag}={value}")


@some(60, 800)
@given(st.sampled_from(PARAMETERS), extremes)
def test_parameters_of_items(where: tuple[str, str], value: str) -> None:
    flag, item = where
    call("cldyb", flag, f"{item}={value}")


READ = ["show", "status", "methods", "check", "pool show", "extend --tasks 3", "cldyb", "similarity --out m.csv"]
"""Commands that end with the name of something."""


@some(40, 800)
@given(st.sampled_from(READ), extremes)
def test_names(command: str, value: str) -> None:
    if (command, value.strip()) in (("methods", ""), ("similarity --out m.csv", "names")):
        return  # the list of all, and what is sensible
    name = [f"--resume={value}"] if command.endswith("cldyb") else ["--", value]
    refused(CliRunner().invoke(main, [*command.split(), *name]))


nested = st.recursive(
    st.one_of(st.integers(), st.floats(), st.booleans(), st.none(), st.text(max_size=9), extremes),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)


@some(60, 1500)
@given(st.sampled_from(FLAGS), nested)
@example(("cldyb", "--tasks"), {"a": {"b": {"c": {"d": 1}}}})
def test_keys_of_a_file(where: tuple[str, str], value: Any) -> None:
    import yaml

    command, flag = where
    if flag in ("--dry-run", "--plan-only") and value is True:
        return  # that is sensible
    Path("study.yaml").write_text(yaml.dump({flag.removeprefix("--"): value}), errors="surrogatepass")
    call(command, "--config", "study.yaml")


LAUGHS = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ntasks: *c\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tasks: 3\ntasks: 4\n", r"line 2 has the key 'tasks' of line 1 again: keep one of them"),
        ("methods:\n  er: {epochs: 1, epochs: 2}\n", r"line 2 has the key 'epochs' of line 2 again"),
        ("classes-per-task: 3\nclasses_per_task: 4\n", r"classes_per_task sets --classes-per-task, which another line sets"),
        (LAUGHS, r"line 2 has an alias \(\*a\): write out what it stands for"),
        ("tasks: " + "[" * 60_000, r"nested too deeply"),
        ("tasks: " + "9" * 5000 + "\n", r"cannot be read as YAML|must be"),
        ("tasks: .nan\n", r"tasks is nan, must be of type integer"),
        ("gpus_per_worker: .nan\n", r"--gpus-per-worker nan: must be between 0 and 1024"),
        ("state_cache: 10XB\n", r"--state-cache '10XB' is no size: write e.g. 500MB"),
        ("time_budget: 99999999999999999999w\n", r"--time-budget '99999999999999999999w' must be more than 0 and at most 520w"),
        ("pool: \"a\\0b\"\n", r"pool must not hold a null character"),
        ("pool: !!python/object/apply:os.getcwd []\n", r"cannot be read as YAML"),
        ("tasks: 2001-01-01\n", r"must be of type integer"),
        ("1e400: 3\n", r"unknown key"),
        ("- tasks\n", r"must hold `option: value` lines"),
    ],
)  # fmt: skip
def test_files_that_mean_harm_or_nothing(text: str, said: str) -> None:
    Path("study.yaml").write_text(text)
    assert re.search(said, call("cldyb", "--config", "study.yaml"))


def test_a_huge_file() -> None:
    with open("study.yaml", "wb") as file:
        file.truncate(100 << 20)
    assert "it has more than 64 kB" in call("cldyb", "--config", "study.yaml")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--state-cache", "9" * 400], "--state-cache '999999999999...9999999999999' must be at most 1048576TB"),
        (["--time-budget", "9" * 20 + "w"], "--time-budget '99999999999999999999w' must be more than 0 and at most 520w"),
        (["--gpus-per-worker", "nan"], "--gpus-per-worker nan: must be between 0 and 1024"),
        (["--workers", "1" + "0" * 12], "--workers 1000000000000: must be at most 100000"),
        (["--score-seeds", "1000000000"], "--score-seeds 1000000000: must be at most 1000"),
        (["--random-sequences", "1000000000"], "--random-sequences 1000000000: must be at most 100000"),
        (["--simulations", "1000000000"], "--simulations 1000000000: must be at most 1000000"),
        (["--pool", "glyphs:train=1000000000"], "train=1000000000 must be a whole number from 2 to 1000000\n"),
        (["--methods", "er:epochs=1000000000"], "method 'er:epochs=1000000000': epochs=1000000000: must be at most 10000"),
        (["--state-cache", "10XB"], "--state-cache '10XB' is no size: write e.g. 500MB, 8GB, 1.5TB, or bytes"),
    ],
)  # fmt: skip
def test_absurd_values_are_named_with_what_is_possible(arguments: list[str], said: str) -> None:
    assert said in call("cldyb", *arguments) + "\n"


def test_absurd_moves() -> None:
    assert "--moves 1000000000: must be at most 100000000" in call("edge", "--moves", "1000000000")


@pytest.mark.parametrize("command", BASE)
def test_what_is_sensible_comes_to_the_door(command: str) -> None:
    assert call(command) + "\n" == DOOR
