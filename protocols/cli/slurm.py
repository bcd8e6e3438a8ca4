"""``seqsearch slurm``: prints a job for Slurm that runs a command until it is finished."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from protocols.cli.types import Whole
from protocols.running.protocol import commands
from seqsearch.core.errors import UserError
from seqsearch.core.text import did_you_mean, shown

TEMPLATES = Path(__file__).parent / "templates"
GRACE = 300
"""Seconds before the end of a job at which Slurm asks it to stop."""
AGAIN = (
    "--workers",
    "--gpus-per-worker",
    "--device",
    "--worker-memory",
    "--rollout-timeout",
    "--state-store",
    "--state-cache",
)
"""Flags with a value that a resumed run takes as well: how it runs, not what."""
_WORD = re.compile(r"[\w.:@+-]+")


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--nodes", type=Whole(1, 10_000), default=1, show_default=True, help="Nodes; on several, Ray is started.")
@click.option("--cpus", type=Whole(1, 10_000), default=8, show_default=True, help="Cores of a node.")
@click.option("--gpus", type=Whole(0, 64), default=0, show_default=True, help="GPUs of a node.")
@click.option("--time", "limit", default="24:00:00", show_default=True, metavar="TIME", help="Limit of a job.")
@click.option(
    "--sbatch", multiple=True, metavar="OPTION", help="Further option of sbatch, e.g. --sbatch=--partition=gpu."
)
@click.option("--venv", default=".venv", show_default=True, metavar="DIR", help="Environment that seqsearch is in.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def slurm(
    nodes: int, cpus: int, gpus: int, limit: str, sbatch: tuple[str, ...], venv: str, command: tuple[str, ...]
) -> None:
    """Print a job for Slurm that runs COMMAND, stops before its time is up, and is requeued until the run is finished.

    \b
    seqsearch slurm --gpus 2 -- cldyb --methods ranpac,er --out runs/mine > mine.sbatch
    seqsearch slurm --nodes 4 --sbatch=--partition=gpu -- cldyb --methods er --workers 32 --out runs/mine > mine.sbatch
    """
    run = _run(command)
    for text in (limit, *sbatch):
        if not re.fullmatch(r"(--[a-z-]+=)?" + _WORD.pattern, text):
            raise UserError(f"{shown(text)[:80]} is no option or time of Slurm: write --NAME=VALUE, or HH:MM:SS")
    further = [*([f"--gpus-per-node={gpus}"] if gpus else []), *sbatch]
    text = (TEMPLATES / "slurm.sh").read_text("utf-8")
    cluster = (TEMPLATES / "slurm_cluster.sh").read_text("utf-8") if nodes > 1 else "on=()\n"
    filled = {
        "NAME": re.sub(r"[^\w.-]", "-", Path(run).name)[:60] or "seqsearch",
        "NODES": str(nodes),
        "CPUS": str(cpus),
        "TIME": "\n".join([limit, *(f"#SBATCH {option}" for option in further)]),
        "GRACE": str(GRACE),
        "ENVIRONMENT": f"source {shlex.quote(f'{venv}/bin/activate')}",
        "COMMAND": _quoted(command),
        "RUN": shlex.quote(run),
        "CLUSTER": f"{cluster}again=({_quoted(_again(command))})",
    }
    click.echo(re.sub("|".join(rf"\b{name}\b" for name in filled), lambda found: filled[found[0]], text), nl=False)


def _quoted(words: Sequence[str]) -> str:
    """Elements of an array of bash; those with a comma are quoted, or they would look like two."""
    return " ".join(f"'{word}'" if "," in word and word == shlex.quote(word) else shlex.quote(word) for word in words)


def _run(command: Sequence[str]) -> str:
    """The run folder of a command.

    Raises:
        UserError: it makes no runs, or has none by name, so that it could not be resumed.
    """
    if command[0] not in commands():
        known = did_you_mean(command[0], commands())
        raise UserError(f"{shown(command[0])[:80]} makes no runs: {known}name one of {', '.join(commands())} behind --")
    for word, following in zip(command, [*command[1:], ""], strict=True):
        name, _, value = word.partition("=")
        if name == "--out" and (value or following):
            return value or following
    raise UserError(f"seqsearch {command[0]} needs --out RUN in a job: a requeued job resumes that run")


def _again(command: Sequence[str]) -> list[str]:
    """The flags of the command that go with ``--resume``."""
    found = []
    for word, following in zip(command, [*command[1:], ""], strict=True):
        if word in AGAIN:
            found += [word, following]
        elif word.partition("=")[0] in AGAIN:
            found.append(word)
    return found
