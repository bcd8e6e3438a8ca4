"""Language of the pages: words a sentence, long sentences, semicolons and banned words of each page. It gates nothing.

    python -m tools.prose                       # README.md and all pages of docs/
    python -m tools.prose docs/edge.md --long   # and its long sentences themselves

Code, tables and link targets are not counted. A page with many long sentences is read twice.
"""

from __future__ import annotations

import re
from pathlib import Path

import click
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
LONG = 25
"""Words of a sentence, above which it is listed."""
BANNED = (
    "told",
    "tells? (?:apart|from|whether|how)",
    "is (?:told|had|judged)",
    "judged?",
    "judges",
    "likewise",
    "lacking",
    "yardsticks?",
    "look-?alikes?",
    "what (?:is|are|was|were) \\w+ (?:is|are)",
    "of which",
    "these are",
    "room",
    "lying",
    "alike",
    "beforehand",
    "hardly",
    "own (?:method|file|learner)s?",
)
"""Patterns of words that readers of the field do not know in this sense."""
_BANNED = re.compile(rf"\b(?:{'|'.join(BANNED)})\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\"(])")


def paragraphs(text: str) -> list[str]:
    """Prose of a Markdown page: paragraphs and list items, without code blocks, tables and headings."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    found, outside = [], 0
    for before, token in zip([None, *tokens], tokens, strict=False):
        outside += {"table_open": 1, "table_close": -1}.get(token.type, 0)
        if token.type == "inline" and not outside and before is not None and before.type == "paragraph_open":
            found.append("".join(map(_words, token.children or [])))
    return found


def sentences(text: str) -> list[str]:
    """Sentences of a Markdown page's prose."""
    return [s for p in paragraphs(text) for s in _SENTENCE_END.split(p) if re.search(r"\w", s)]


def _words(token: Token) -> str:
    if token.type in ("text", "code_inline"):
        return token.content
    return " " if token.type in ("softbreak", "hardbreak") else ""


def pages() -> list[Path]:
    """README.md and all pages of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@click.command(help=__doc__)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--long", "list_long", is_flag=True, help=f"List sentences of more than {LONG} words, too.")
def main(files: tuple[Path, ...], list_long: bool) -> None:
    """Print one line a page."""
    click.echo(f"{'page':42} sentences  words each  over {LONG}  semicolons per 100  banned words")
    for path in files or pages():
        found = sentences(path.read_text())
        lengths = [len(s.split()) for s in found]
        count = max(len(found), 1)
        banned = sorted({m.lower() for s in found for m in _BANNED.findall(s)})
        semicolons = 100 * sum(s.count(";") for s in found) / count
        long = sum(n > LONG for n in lengths)
        name = path.resolve().relative_to(ROOT) if path.resolve().is_relative_to(ROOT) else path
        click.echo(
            f"{name!s:42} {len(found):9}  {sum(lengths) / count:10.1f}  {long:7}  {semicolons:18.0f}  {', '.join(banned)}"
        )
        if list_long:
            click.echo("".join(f"    {n}: {s}\n" for n, s in zip(lengths, found, strict=True) if n > LONG), nl=False)


if __name__ == "__main__":
    main()
