"""``seqsearch methods`` and ``seqsearch check``: list methods, and check that custom code keeps the contracts."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click
from rich.console import Group
from rich.text import Text

from protocols.cli.completion import learning, named
from protocols.cli.grouped import TRACEBACK
from protocols.cli.options import weights_of
from protocols.report.commands.methods import describe, method_table, methods_json, parameters
from protocols.report.terminal import stacked
from protocols.report.text import duration, show
from seqsearch.check.data import DataKind, data_findings, data_kind
from seqsearch.check.finding import Finding
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.kinds import spelled
from seqsearch.core.registry import names
from seqsearch.core.text import shown
from seqsearch.study.named import check_backbone, check_item

NOT_TESTED = (
    "GPUs and other machines, where rounding may differ; other backbones and other values of parameters",
    "long runs: more than three tasks, and whether memory or time grows with their number",
    "whether it is the method that it says it is",
)
"""Properties of a method that `seqsearch check` does not test."""
FOLLOWS = {
    "C2": "looking at it changes it, so its results would depend on who looked",
    "C3": "images that are evaluated together would help each other",
    "C4": "what goes on from a stored state would come to other results",
    "C5": "it cannot learn tasks of any size",
    "C6": "what is trained beside it would change its results",
    "C7": "it learns from images that others are not given",
    "C8": "a divergence would be taken for a result",
    "C9": "what it answers, or says of itself, cannot be compared",
    "C10": "it would change the results of others",
    "P1": "no run can use it",
    "P2": "a run that may draw these classes is refused",
    "P7": "methods would learn from other texts than they are evaluated with",
    "S1": "no run can use it",
    "S2": "samples would be evaluated with the images of others",
    "S6": "seqsearch online refuses it",
}
"""Consequence of broken contracts; every other broken contract means that results do not repeat."""
PAGES = {"C": "method_contracts", "L": "learners", "P": "custom_data", "S": "custom_data"}
"""Page of the contracts, by their first letter."""


@click.command()
@click.argument("name", required=False, shell_complete=named("method"))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def methods(name: str | None, as_json: bool) -> None:
    """List the methods with their parameters, or describe the one NAMEd, from the code.

    \b
    seqsearch methods ranpac
    """
    name = spelled("method", name.strip()) if name else None
    if as_json:
        click.echo(json.dumps(describe(name) if name else methods_json()))
    elif name is None:
        click.echo(method_table())
    else:
        found = describe(name)
        click.echo(found["documentation"])
        show(Group(*stacked([parameters(found)])) if found["parameters"] else Text("\nParameters: none"))


@click.command()
@click.argument("method", shell_complete=learning)
@click.option(
    "--backbone",
    shell_complete=named("backbone"),
    help="Backbone to check it on.  [default: glyph_vit, or glyph_flava for methods of image-text pairs]",
)
@click.option("--weights", metavar="FILE", help="Weights of the backbone, if it is a timm model, clip or flava.")
@click.option(
    "--learner", is_flag=True, help="METHOD is a learner of streams, also where a method has its name, as er."
)
@click.option("--traceback", expose_value=False, **TRACEBACK)
def check(method: str, backbone: str | None, weights: str | None, learner: bool) -> None:
    """Train METHOD (e.g. mine.py:Mine:lr=0.1) on two small tasks, and report which contracts it breaks.

    METHOD may also be a custom pool or stream (mine.py:MyPool:option=3), which is made twice and read.

    Some twenty short trainings test contracts C1 to C10 of docs/method_contracts.md. After two of them it prints how many more
    there are, and how long they may take. Then come its accuracy beside finetune, simplecil and chance, and its bytes. Exit code
    2 if a contract is broken.

    A learner of streams (a class derived from Learner) is given a small stream.

    \b
    seqsearch check simplecil
    seqsearch check mine.py:Mine:lr=0.1
    """
    _refuse_unknown(method, learner, backbone)
    if kind := data_kind(parse_item(method, "method")):
        if learner or backbone or weights:
            raise UserError(
                f"{method} is a {kind}: --learner, --backbone and --weights are for methods: leave them out"
            )
        _check_data(kind, method)
        return
    from seqsearch.check.run import check as findings_of
    from seqsearch.check.run import compared_accuracies, embedded_backbone

    backbone = backbone or embedded_backbone(method, learner)
    files = weights_of(backbone, weights)
    findings = findings_of(method, backbone, files, learner, _tell_time)
    broken = _printed(findings)
    of_methods = any(f.contract == "C10" for f in findings)
    for line in NOT_TESTED if of_methods else ():
        click.echo(f"not tested: {line}")
    if broken:
        raise UserError(_verdict(method, broken))
    for line in compared_accuracies(method, backbone, files, learner):
        click.echo(shown(line))
    if of_methods:
        warned = "; see the warning" if any(f.wrong and f.warns for f in findings) else ""
        click.echo(shown(f"{method} keeps C1 to C10 as far as two small tasks show{warned}."))


def _check_data(kind: DataKind, text: str) -> None:
    """Check a custom pool or stream.

    Raises:
        UserError: it cannot be made, or breaks a contract.
    """
    findings = data_findings(kind, text)
    if broken := _printed(findings):
        raise UserError(_verdict(text, broken))
    click.echo("not tested: whether other images give another digest")
    first, last = findings[0].contract, findings[-1].contract
    click.echo(shown(f"{text} keeps {first} to {last}; seqsearch {kind} show {text} describes it."))


def _printed(findings: Sequence[Finding]) -> list[str]:
    """Print a line for each finding, and return the contracts that are broken."""
    for f in findings:
        click.echo(shown(f"{f.contract} {f.asks}: {'warning: ' * (f.warns and bool(f.wrong))}{f.wrong or 'ok'}"))
    return list(dict.fromkeys(f.contract for f in findings if f.wrong and f.tested and not f.warns))


def _tell_time(seconds: float, more: range) -> None:
    """How long a check may take, on stderr, once its second training is done: the first warms up."""
    most = more.stop - 1
    took = f"{seconds:.1f} s" if seconds >= 0.05 else "less than 0.1 s"
    number = f"{more.start} to {most}" if more.start < most else str(most)
    click.echo(
        f"the second training took {took}; {number} more follow and take {duration(max(1, seconds * most))} at this "
        "speed, without the checks between them",
        err=True,
    )


def _verdict(method: str, broken: Sequence[str]) -> str:
    """Describe the consequences of broken contracts."""
    page = PAGES[broken[0][0]]
    follows = dict.fromkeys(FOLLOWS.get(contract, "its results would not repeat") for contract in broken)
    return f"{method} breaks {', '.join(broken)} (docs/{page}.md): {'; '.join(follows)}"


def _refuse_unknown(text: str, learner: bool, backbone: str | None) -> None:
    """Look at what is to be checked before anything heavy is imported.

    Raises:
        UserError: there is no such method, learner, parameter, value or backbone.
    """
    item = parse_item(text, "method")
    if backbone:
        check_backbone(backbone)
    learns_streams = learner or (item.target in names("learner") and item.target not in names("method"))
    check_item("learner" if learns_streams else "method", item, backbone or "glyph_vit")
