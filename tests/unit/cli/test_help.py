"""The help of commands that run something: every flag once, under one heading, those to begin with first."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from protocols.cli.grouped import HEADINGS, GroupedOption, RunCommand, group_of
from protocols.cli.main import main

CONTEXT = click.Context(main)
RUNS = [
    command
    for name in main.list_commands(CONTEXT)
    if (command := main.get_command(CONTEXT, name)) and any(p.name == "workers" for p in command.params)
    if any(p.name == "state_store" for p in command.params)
]
"""Commands with the flags of a run."""


def test_there_are_such_commands() -> None:
    found = {c.name for c in RUNS}
    assert {"cldyb", "duel", "edge", "explain", "extend", "gtep", "mcil", "online", "score"} <= found


@pytest.mark.parametrize("command", RUNS, ids=lambda c: c.name)
def test_every_flag_is_under_exactly_one_heading(command: click.Command) -> None:
    assert isinstance(command, RunCommand)
    command.get_help_option(click.Context(command))  # of other names, as one has that is made without the program
    parts = sections(CliRunner().invoke(main, [str(command.name), "--help"]).output)
    options = [p for p in command.params if isinstance(p, click.Option)]
    assert options
    for option in options:
        assert isinstance(option, GroupedOption), option.name
        flags = {line.split()[0].rstrip(",") for title in parts for line in parts[title]}
        where = [
            title for title, lines in parts.items() for line in lines if line.split()[0].rstrip(",") == option.opts[0]
        ]
        assert where == [HEADINGS[option.group]], option.name
    assert flags == {o.opts[0] for o in options} | {"-h"}
    assert list(parts) == [h for h in HEADINGS.values() if h in parts]


@pytest.mark.parametrize("command", RUNS, ids=lambda c: c.name)
def test_those_to_begin_with_are_ten_at_most(command: click.Command) -> None:
    first = [p for p in command.params if group_of(p) == "first"]
    assert 2 <= len(first) <= 10
    assert "workers" in {p.name for p in first}


def sections(text: str) -> dict[str, list[str]]:
    """The lines that begin with a flag, by heading, of what follows the description."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.endswith(":") and line[:1].isalpha():
            title = line[:-1]
            assert title not in found
            found[title] = []
        elif title and line.startswith("  -"):
            found[title].append(line)
    return found
