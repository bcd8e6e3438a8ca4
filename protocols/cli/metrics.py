"""``seqsearch metrics``: what the columns of the tables are."""

from __future__ import annotations

from collections.abc import Sequence

import click


@click.command()
@click.argument("name", required=False)
@click.option("--markdown", is_flag=True, help="Print docs/metrics.md.")
def metrics(name: str | None, markdown: bool) -> None:
    """Tell what the columns of the tables are, with formula, unit, range, direction, source and what intervals are over.

    NAME: of a column (AR), or of the tables of a command (mcil)."""
    from protocols.report.metric_table import every, matching, page, text

    columns = matching(name) if name is not None else every()
    click.echo(page() if markdown else text(columns), nl=not markdown)


def commands() -> Sequence[click.Command]:
    return (metrics,)
