"""``seqsearch demo NAME``: the command NAME with settings that need no data and take minutes."""

from __future__ import annotations

from functools import cached_property

import click

from protocols.cli.grouped import Commands, RunCommand
from protocols.cli.new import template
from protocols.cli.run_commands import run_command

NAMES = ("cldyb", "edge", "gtep", "online", "mcil")


class Demos(Commands):
    """Each demo is the command of its name whose ``--config`` is the template of its name, if no other is given."""

    @cached_property
    def _found(self) -> dict[str, click.Command]:
        return {name: _demo(name) for name in NAMES}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self._found.get(cmd_name)


class Demo(RunCommand):
    """A command with settings of a file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--config", str(template(ctx.command.name or "")), *args])


def _demo(name: str) -> click.Command:
    of = run_command(name)
    about = template(name).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    example = f"seqsearch demo {name} --dry-run\nseqsearch demo {name} --out runs/{name}-demo"
    return Demo(
        name,
        params=of.params,
        callback=of.callback,
        help=f"{about}\n\n\b\n{example}",
        short_help=about.partition(":")[0],
    )


@click.group(cls=Demos)
def demo() -> None:
    """Run a study that needs no data and takes minutes; flags are those of the command of its name, and win.

    \b
    seqsearch demo cldyb --dry-run
    seqsearch demo gtep
    seqsearch new cldyb mine      # the settings of a demo as a file
    """
