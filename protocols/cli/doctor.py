"""``seqsearch doctor``: what this machine has of what runs need."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from seqsearch.core.text import shown


@click.command()
@click.option("--gpu", is_flag=True, help="Train a small study on CPU and GPU, and compare them.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def doctor(gpu: bool, as_json: bool) -> None:
    """Look at versions, devices, Ray, FAISS, disk, hub and memory, and name the command that fixes what is missing.

    Exit code 1 if something is missing that runs need. Paste its output into a bug report.

    \b
    seqsearch doctor
    seqsearch doctor --gpu
    """
    from protocols.running.doctor import compared_devices, examine

    found = list(compared_devices() if gpu else examine())
    if as_json:
        click.echo(json.dumps([asdict(f) for f in found]))
    for f in () if as_json else found:
        click.echo(shown(f"{f.state:8}  {f.part:9}  {f.text}"))
        if f.fix:
            click.echo(shown(f"{'':21}fix: {f.fix}"))
    if any(f.state == "missing" for f in found):
        raise SystemExit(1)
