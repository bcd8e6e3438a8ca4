"""The code in README.md, CONTRIBUTING.md and docs: every block, and the commands of seqsearch in them."""

from __future__ import annotations

import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")))

_FENCED = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```", re.S | re.M)
_INDENTED = re.compile(r"(?<=\n\n)(?P<text>(?: {4}.*\n(?:\n(?= {4}))?)+)")
_SHELL = re.compile(r"^((seqsearch|make|git|python3?|pip|ray|docker|kubectl|sbatch|\.) |\(umask )", re.M)
_PYTHON = re.compile(r"^(import \w|from \S+ import |class \w|def \w|with \S|for \S)", re.M)


@dataclass(frozen=True)
class Block:
    """One block of code.

    Attributes:
        page: path from the root of the checkout.
        line: of its first line of code, from 1.
        language: ``shell``, ``python``, another one that a fence names, or empty: a formula, a listing, what a program prints.
        text: without the indentation.
    """

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.page}:{self.line}"


def blocks_of(page: str, text: str) -> list[Block]:
    """All blocks of a page, in its order."""
    found = []
    for match in _FENCED.finditer(text):
        language = {"bash": "shell", "sh": "shell"}.get(match["language"], match["language"])
        found.append(Block(page, _line(text, match.start("text")), language, match["text"]))
    rest = _FENCED.sub(lambda m: re.sub(r"[^\n]", "", m[0]), text)  # the same lines, empty
    for match in _INDENTED.finditer(rest):
        code = textwrap.dedent(match["text"])
        if not _in_list(rest, match.start()):
            found.append(Block(page, _line(rest, match.start()), _language(code), code))
    return sorted(found, key=lambda b: b.line)


def all_blocks() -> list[Block]:
    """Those of all pages."""
    return [block for page in PAGES for block in blocks_of(page, (ROOT / page).read_text())]


def shell_lines(block: Block) -> list[str]:
    """Commands of a shell block: continued lines are one; comments are kept."""
    return [line for line in block.text.replace("\\\n", " ").split("\n") if line.strip() and line.strip()[0] != "#"]


def seqsearch_commands(block: Block) -> list[list[str]]:
    """Words behind ``seqsearch`` of each command line of a shell block, also of one that is quoted for another machine."""
    found = []
    for line in shell_lines(block):
        words = shlex.split(line, comments=True)
        quoted = [shlex.split(w) for w in words if w.startswith("seqsearch ")]
        found += [w[1:] for w in (words, *quoted) if w[:1] == ["seqsearch"]]
    return found


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _in_list(text: str, position: int) -> bool:
    """Whether an indented paragraph belongs to a list above it: its text, not code."""
    above = text[:position].rstrip("\n").rsplit("\n\n", 1)[-1]
    return above.lstrip().startswith(("- ", "* ", "1. "))


def _language(code: str) -> str:
    if _SHELL.search(code):
        return "shell"
    return "python" if _PYTHON.search(code) else ""
