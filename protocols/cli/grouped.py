"""Commands whose help lists their flags under headings, and groups of commands that say which name may have been meant."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import click

from seqsearch.core.installation import ROOT
from seqsearch.core.kinds import LEARNING, PACKAGES, is_ours, names
from seqsearch.core.registry import declared
from seqsearch.core.settings import HEADINGS, Group, flag
from seqsearch.core.text import as_sentence, did_you_mean, near
from seqsearch.core.typed import brief


class GroupedOption(click.Option):
    """An option that knows its heading."""

    def __init__(self, *args: Any, group: Group, **known: Any) -> None:
        super().__init__(*args, **known)
        self.group = group


def grouped_option(*names: str, group: Group, **known: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As `click.option`, under a heading."""
    return click.option(*names, cls=GroupedOption, group=group, **known)


def _note(context: click.Context, _: click.Parameter, value: bool) -> bool:
    context.meta[NOTED] = value
    return value


NOTED = "seqsearch.traceback"
"""In a context: tracebacks are shown."""
TRACEBACK: dict[str, Any] = {
    "is_flag": True,
    "callback": _note,
    "is_eager": True,
    "help": "Show all that led to an error in a method, not only its line.",
}
"""The option ``--traceback`` of commands that run methods."""


class RunCommand(click.Command):
    """A command that runs something: its help has a part for each heading that it has flags of."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Of this context's names: click keeps the one that was asked for first, also by a context of other names."""
        self._help_option = None
        return super().get_help_option(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group, heading in HEADINGS.items():
            found = [p.get_help_record(ctx) for p in self.get_params(ctx) if group_of(p) == group]
            if rows := [row for row in found if row is not None]:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def group_of(parameter: click.Parameter) -> Group | None:
    """The heading of an option; none of an argument. What click adds, ``--help``, is listed last."""
    if not isinstance(parameter, click.Option):
        return None
    return parameter.group if isinstance(parameter, GroupedOption) else "output"


OTHER_WORDS = {
    "search": "cldyb",
    "find": "cldyb",
    "train": "cldyb",
    "tune": "gtep",
    "evaluate": "score",
    "results": "show",
    "list": "methods",
    "run": "",
    "start": "",
}
"""Words that users may type instead of a command's name; an empty value stands for any command that makes a run."""
OTHER_OPTIONS = {
    "data": ("pool",),
    "dataset": ("pool",),
    "seeds": ("score_seeds", "seed"),
}
"""Words that users may type instead of an option's name."""
GPU = "gpu", "gpus", "cuda"
"""Words that users may type instead of ``--device cuda``."""


def other_place(option: str, command: click.Command) -> str:
    """Where something that is no option of a command is set, as a clause; empty if that is not known."""
    name = option.lstrip("-").replace("-", "_").lower()
    options = [p.name for p in command.params]
    if "methods" not in options:
        return ""
    if name in GPU:
        return "write --device cuda"
    if others := [flag(other) for other in OTHER_OPTIONS.get(name, ()) if other in options]:
        return f"write {' or '.join(others)}"
    return f"it is a parameter of methods: write --methods METHOD:{name}=VALUE" if _is_parameter(name) else ""


def _is_parameter(name: str) -> bool:
    """Whether a method or learner has a parameter of this name. Their declarations are read only if the name occurs in a file."""
    files = (f for kind in LEARNING for f in (ROOT / PACKAGES[kind].replace(".", "/")).rglob("*.py"))
    if not any(re.search(rf"\b{re.escape(name)}\b", f.read_text(encoding="utf-8")) for f in files):
        return False
    of_kinds = (declared(kind, n).Config for kind in LEARNING for n in names(kind))
    return any(f.name == name for config in of_kinds for f in dataclasses.fields(config))


def as_methods(words: str, command: click.Command) -> str:
    """Where methods that stand behind a command without ``--methods`` are named, as a clause; empty if they are none."""
    items = re.split(r"[,\s]+", words)
    name = re.split("[@:]", items[0])[0]
    if any(p.name == "methods" for p in command.params) and (name.endswith(".py") or is_ours("method", name.lower())):
        return f"write --methods {','.join(items)}"
    return ""


class Commands(click.Group):
    """A group of commands: of a name that is none of theirs it says what may have been meant, or what there is."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if (
            args
            and not args[0].startswith("-")
            and not ctx.resilient_parsing
            and self.get_command(ctx, args[0]) is None
        ):
            known = self.list_commands(ctx)
            other = {word: name for word, name in OTHER_WORDS.items() if name in known or not name}
            word = next(iter(near(args[0], other)), None)
            meant = did_you_mean(args[0], known) * (word != args[0]) or (
                did_you_mean(other[word], known) if word else ""
            )
            if word and not meant and (runs := [n for n in known if isinstance(self.get_command(ctx, n), RunCommand)]):
                meant = (
                    f"did you mean one that makes a run: {', '.join(runs[:-1])} or {runs[-1]}? (see: seqsearch --help)"
                )
            meant = meant or f"there are {', '.join(known)}."
            ctx.fail(f"No such command {brief(args[0])}. {as_sentence(meant)}")
        return super().resolve_command(ctx, args)
