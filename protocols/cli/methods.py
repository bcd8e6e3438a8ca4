"""``seqsearch methods`` and ``seqsearch check``: what there is, and whether an own method keeps the contracts."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from seqsearch.core.errors import UserError
from seqsearch.core.text import shown


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def methods(name: str | None, as_json: bool) -> None:
    """List the methods with their parameters, or tell all about the one NAMEd; from the code."""
    from protocols.report.methods import describe, method_table, method_text, methods_json

    if as_json:
        click.echo(json.dumps(describe(name) if name else methods_json()))
    else:
        click.echo(method_text(name) if name else method_table())


@click.command()
@click.argument("method")
@click.option("--backbone", default="glyph_vit", show_default=True, help="Backbone to check it on.")
@click.option("--weights", metavar="FILE", help="Weights of the backbone, if it is a timm model.")
def check(method: str, backbone: str, weights: str | None) -> None:
    """Train METHOD (e.g. mine.py:Mine:lr=0.1) on two small tasks, and tell whether its results can be trusted.

    A learner of streams (a class derived from Learner) is given a small stream."""
    from seqsearch.study.check import check as findings_of
    from seqsearch.study.check import compared_accuracies

    findings = findings_of(method, backbone, {backbone: weights} if weights else None)
    for f in findings:
        click.echo(shown(f"{f.contract} {f.asks}: {f.wrong or 'ok'}"))
    broken = list(dict.fromkeys(f.contract for f in findings if f.wrong and f.tested))
    if broken:
        page = "learners" if broken[0].startswith("L") else "methods"
        raise UserError(f"{method} breaks {', '.join(broken)} (docs/{page}.md): its results would not repeat")
    for line in compared_accuracies(method, backbone, {backbone: weights} if weights else None):
        click.echo(shown(line))


def commands() -> Sequence[click.Command]:
    return methods, check
