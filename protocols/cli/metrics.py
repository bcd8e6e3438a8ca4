"""``seqsearch metrics``: the meaning of the columns of the tables."""

from __future__ import annotations

import click

from protocols.report.commands.metrics import answer, every, page, text
from protocols.report.notes import page as codes


@click.command()
@click.argument("name", required=False)
@click.option("--markdown", is_flag=True, help="Print docs/metrics.md.")
@click.option("--notes", is_flag=True, help="Print docs/notes.md: the codes of notes in JSON, and their sentences.")
def metrics(name: str | None, markdown: bool, notes: bool) -> None:
    """Describe the columns of the tables: meaning, formula, unit, range, direction, source and what intervals are over.

    NAME: of a column as a table has it (AR, "Acc found", "best of 10"), or of the tables of a command (mcil).

    \b
    seqsearch metrics AR
    """
    if notes:
        click.echo(codes(), nl=False)
        return
    said = page() if markdown else text(every()) if name is None else answer(name)
    click.echo(said, nl=not markdown)
