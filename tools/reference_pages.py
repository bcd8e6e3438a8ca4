"""The reference of commands and of Python names, ``docs/command_line.md`` and ``docs/api.md``: from help texts and docstrings.

    python -m tools.reference_pages

A test compares what is there with what this writes.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import griffe

import seqsearch
from protocols.cli.grouped import group_of
from protocols.cli.main import main as seqsearch_command
from protocols.report.table import of_words
from seqsearch.core.settings import HEADINGS
from tools.method_pages import markdown

DOCS = Path(__file__).parents[1] / "docs"
GENERATED = "<!-- written by python -m tools.reference_pages -->"
ABOUT_COMMANDS = """Use this page to look up a command or a flag. `seqsearch COMMAND --help` prints the same.
Flags that several commands share stand with the first of them only."""
ABOUT_NAMES = """Use this page to look up a function or a method of `import seqsearch as ss`. [From Python](python.md)
explains them with examples. Functions that make runs take the flags of their [command](command_line.md) as keywords,
with `_` for `-`."""


def command_line() -> str:
    """The page of all commands."""
    lines = ["# Command line", "", GENERATED, "", ABOUT_COMMANDS, ""]
    seen: set[tuple[str, str]] = set()
    for path, command in _commands(seqsearch_command, ()):
        lines += [f"{'#' * (1 + len(path))} seqsearch {' '.join(path)}", "", *_help(command), *_flags(command, seen)]
    return _joined(lines)


def _commands(group: click.Group, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        yield (*path, name), command
        if isinstance(command, click.Group) and name != "demo":  # each demo has the flags of its command
            yield from _commands(command, (*path, name))


def _help(command: click.Command) -> Iterator[str]:
    """The help text: paragraphs, and blocks that keep their lines as code."""
    arguments = " ".join(
        p.make_metavar(click.Context(command)) for p in command.params if isinstance(p, click.Argument)
    )
    if arguments:
        yield from (f"Arguments: `{arguments}`", "")
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            yield from ("```text", *paragraph.split("\n")[1:], "```", "")
        else:
            yield from (_escaped(" ".join(paragraph.split("\n"))), "")


def _flags(command: click.Command, seen: set[tuple[str, str]]) -> Iterator[str]:
    """A table of the flags that no command before had with the same help."""
    context = click.Context(command)
    rows: dict[str, list[list[str]]] = {heading: [] for heading in HEADINGS.values()}
    for p in command.params:
        group, record = group_of(p), p.get_help_record(context)
        if group is None or record is None or record in seen:
            continue
        seen.add(record)
        choices = re.sub(r"\[([^]|]+(?:\|[^]|]+)+)\]", lambda m: f"{{{m[1].replace('|', ',')}}}", record[0])
        rows[HEADINGS[group]].append([f"`{choices.replace('|', ' or ')}`", _escaped(record[1])])
    for heading, found in rows.items():
        if found:
            yield from (*of_words((heading, "meaning"), found).markdown().splitlines(), "")


def api() -> str:
    """The page of all public names."""
    lines = ["# Python API", "", GENERATED, "", ABOUT_NAMES, ""]
    for name in vars(seqsearch)["__all__"]:
        thing = getattr(seqsearch, name)
        if not inspect.isclass(thing):
            lines += [f"## ss.{name}", "", *_signature(thing, name), *_docstring(_written(thing))]
            continue
        lines += [f"## ss.{name} (class)", "", *_docstring(_written(thing))]
        for key, member in vars(thing).items():
            if not key.startswith("_") and (callable(member) or isinstance(member, property)):
                lines += [f"### {name}.{key}", "", *_signature(member, key), *_docstring(inspect.getdoc(member) or "")]
    return _joined(lines)


def _written(thing: Any) -> str:
    """A docstring without the keywords of the command, which `command_line` lists."""
    return (inspect.getdoc(thing) or "").partition("\n\nKeywords, with the help")[0]


def _signature(thing: Any, name: str) -> Iterator[str]:
    if not callable(thing):
        return
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", re.sub(r"\(self(, )?", "(", text))
    yield from ("```text", f"{name}(**settings)" if len(text) > 400 else f"{name}{text}", "```", "")


def _docstring(text: str) -> Iterator[str]:
    """Google's sections of a docstring as Markdown."""
    logging.getLogger("griffe").setLevel(logging.ERROR)  # types stand in the signature
    for section in griffe.Docstring(text, parser="google").parse():
        kind, value = section.kind.value, section.value
        if kind == "text":
            yield from (markdown(value), "")
        elif kind == "examples":
            yield from ("```text", *(line for _, part in value for line in part.split("\n")), "```", "")
        elif kind == "admonition":
            yield from (f"**{section.title or value.kind}**", "", "```text", *value.contents.split("\n"), "```", "")
        else:
            yield from (f"**{kind.capitalize()}**", "", *map(_item, value), "")


def _item(element: Any) -> str:
    name = getattr(element, "name", "") or getattr(element, "annotation", "")
    about = " ".join(markdown(element.description).split("\n"))
    return f"- `{name}`: {about}" if name else f"- {about}"


def _escaped(text: str) -> str:
    """Characters that Markdown would take for tags."""
    return text.replace("<", "&lt;").replace("*", "\\*")


def _joined(lines: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).rstrip() + "\n"


def pages() -> dict[Path, str]:
    """Each page with its text."""
    return {DOCS / "command_line.md": command_line(), DOCS / "api.md": api()}


if __name__ == "__main__":
    for page, written in pages().items():
        page.write_text(written)
