"""``seqsearch methods`` and ``seqsearch check``: what there is, and whether an own method keeps the contracts."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from protocols.cli.completion import backbones, named, offered, to_check
from seqsearch.core.errors import UserError
from seqsearch.core.text import shown


@click.command()
@click.argument("name", required=False, shell_complete=offered(named("method")))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def methods(name: str | None, as_json: bool) -> None:
    """List the methods with their parameters, or tell all about the one NAMEd; from the code."""
    from protocols.report.methods import describe, method_table, method_text, methods_json

    if as_json:
        click.echo(json.dumps(describe(name) if name else methods_json()))
    else:
        click.echo(method_text(name) if name else method_table())


@click.command()
@click.argument("method", shell_complete=to_check)
@click.option(
    "--backbone",
    shell_complete=offered(backbones),
    help="Backbone to check it on.  [default: glyph_vit, or glyph_flava for methods of image-text pairs]",
)
@click.option("--weights", metavar="FILE", help="Weights of the backbone, if it is a timm model or flava.")
@click.option(
    "--learner", is_flag=True, help="METHOD is a learner of streams, also where a method has its name, as er."
)
def check(method: str, backbone: str | None, weights: str | None, learner: bool) -> None:
    """Train METHOD (e.g. mine.py:Mine:lr=0.1) on two small tasks, and tell whether its results can be trusted.

    A learner of streams (a class derived from Learner) is given a small stream."""
    _refuse_unknown(method, learner, backbone)
    from seqsearch.study.check import check as findings_of
    from seqsearch.study.check import compared_accuracies
    from seqsearch.study.check_made_for import embedded_backbone

    backbone = backbone or embedded_backbone(method, learner)
    findings = findings_of(method, backbone, {backbone: weights} if weights else None, learner)
    for f in findings:
        click.echo(shown(f"{f.contract} {f.asks}: {f.wrong or 'ok'}"))
    broken = list(dict.fromkeys(f.contract for f in findings if f.wrong and f.tested))
    if broken:
        page = "learners" if broken[0].startswith("L") else "methods"
        raise UserError(f"{method} breaks {', '.join(broken)} (docs/{page}.md): its results would not repeat")
    for line in compared_accuracies(method, backbone, {backbone: weights} if weights else None, learner):
        click.echo(shown(line))


def _refuse_unknown(text: str, learner: bool, backbone: str | None) -> None:
    """Look at what is to be checked before anything heavy is imported.

    Raises:
        UserError: there is no such method, learner, parameter, value or backbone.
    """
    from seqsearch.core.grammar import parse_item
    from seqsearch.core.registry import names
    from seqsearch.study.named import check_backbone, check_item

    item = parse_item(text, "method")
    if backbone:
        check_backbone(backbone)
    learns_streams = learner or (item.target in names("learner") and item.target not in names("method"))
    check_item("learner" if learns_streams else "method", item, backbone or "glyph_vit")


def commands() -> Sequence[click.Command]:
    return methods, check
