"""Numbers that a rewrite of the pages lost: those of README.md and docs/ at a revision that stand in no page any more.

    python -m tools.lost_numbers REVISION

A number that moved to another page is not lost. Code blocks count as well. It gates nothing: a number may be dropped on purpose.
"""

from __future__ import annotations

import re
import subprocess

import click

from tools.prose import ROOT, pages

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.?\d*|(?<![\w.])\.\d+")


def numbers(text: str) -> set[str]:
    """Numbers of a text in one notation: ``.28``, ``0.28`` and ``0.280`` are equal, so are ``1,000`` and ``1000``."""
    plain = (n.replace(",", "").rstrip(".") for n in _NUMBER.findall(text))
    return {f"{float(n):g}" for n in plain}


def lost(before: str, now: set[str]) -> list[tuple[str, str]]:
    """Each number of a page that is not among ``now``, with the line that it stood in."""
    return [(n, line.strip()) for line in before.split("\n") for n in sorted(numbers(line) - now)]


@click.command(help=__doc__)
@click.argument("revision")
def main(revision: str) -> None:
    """Print the lost numbers page by page."""
    now = set().union(*(numbers(p.read_text()) for p in pages()))
    listed = _git("ls-tree", "-r", "--name-only", revision, "README.md", "docs").split()
    for name in (n for n in listed if n.endswith(".md")):
        gone = lost(_git("show", f"{revision}:{name}"), now)
        if gone:
            click.echo(f"{name}: {len(gone)}")
            click.echo("".join(f"    {n:>10}  {line[:140]}\n" for n, line in gone), nl=False)


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
