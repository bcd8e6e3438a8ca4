"""A method that is a command, as it is written: ``cmd:python my_learner.py {sequence} {out}``.

Words are separated as in a shell, and no shell runs them. A comma ends the command unless it stands within quotes.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.typed import brief

PREFIX = "cmd:"
NEEDED = ("{sequence}", "{out}")
"""Placeholders that a command must contain: the folder of its task sequence, and the file that it writes."""
PREDICT = "{predict}"
"""Placeholder of the list of test images, without labels. A command that contains it writes predictions, which
seqsearch evaluates."""
PLACES = (*NEEDED, PREDICT, "{seed}")
SELF_GRADED = " [self-graded]"
"""Behind the label of a command that says itself how accurate it is, so that it stands in every table and file."""
_BEGIN = re.compile(r"\s*cmd:")
_INTERPRETER = re.compile(r"(python|pypy|bash|sh|zsh|node|Rscript|julia)[\d.]*")


def is_one(text: str) -> bool:
    """Whether an item, or the target of a method, is a command."""
    return _BEGIN.match(text) is not None


def in_list(text: object) -> bool:
    """Whether a list of methods, as a setting has it, names one."""
    return isinstance(text, str) and any(map(is_one, split(text)))


def split(text: str) -> Iterator[str]:
    """The pieces of a list between its commas; those of a command within quotes do not count.

    >>> list(split("er:a=1,b=2,cmd:run --lr '.1,.2' {sequence} {out},lwf"))
    ['er:a=1', 'b=2', "cmd:run --lr '.1,.2' {sequence} {out}", 'lwf']
    """
    while text:
        end = _end(text) if is_one(text) else text.find(",")
        if end < 0:
            break
        yield text[:end]
        text = text[end + 1 :]
    yield text


def _end(text: str) -> int:
    """Where the comma is that ends a command; -1 if none does."""
    quote, escaped = "", False
    for at, character in enumerate(text):
        if escaped:
            escaped = False
        elif character == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == ",":
            return at
    return -1


def words(text: str) -> tuple[str, ...]:
    """The words of a command.

    Raises:
        UserError: quotes that do not end, no word, a place that it must name and does not, or what other methods take.
    """
    try:
        found = tuple(shlex.split(text.strip()[len(PREFIX) :]))
    except ValueError as error:
        raise UserError(f"method {brief(text)}: {error}: close the quotes") from None
    if not found:
        raise UserError(f"method {brief(text)}: no command: write 'cmd:python my_learner.py {{sequence}} {{out}}'")
    if missing := [place for place in NEEDED if not any(place in word for word in found)]:
        raise UserError(
            f"method {brief(text)}: does not say where {missing[0]} goes: write 'cmd:python my_learner.py {{sequence}} {{out}}'"
        )
    places = {place for word in found for place in re.findall(r"\{\w+\}", word)}
    if unknown := sorted(places - set(PLACES)):
        raise UserError(f"method {brief(text)}: there is no {unknown[0]}: places are {', '.join(PLACES)}")
    if re.search(r"\}[@:]", found[-1]):
        raise UserError(f"method {brief(text)}: a command takes neither @BACKBONE nor :key=value: give it words")
    return found


def target_of(found: Sequence[str]) -> str:
    """The text of these words, as an item has it."""
    return PREFIX + " ".join(f"'{w}'" if "," in w and shlex.quote(w) == w else shlex.quote(w) for w in found)


def located(found: Sequence[str], directory: Path) -> tuple[str, ...]:
    """The words with files as a worker finds them, whatever folder it runs in.

    Raises:
        UserError: there is no such program, or no such Python file.
    """
    program, *rest = (_located(word, directory) for word in found)
    if shutil.which(program) is None:
        raise UserError(
            f"command: program {brief(program)} is not found, or cannot be executed: give its path, or chmod +x it"
        )
    return (program, *rest)


def _located(word: str, directory: Path) -> str:
    path = Path(os.path.abspath(directory / at_home(word)))  # links stay: an environment's python is one
    if word.endswith(".py") and not word.startswith("-") and not path.is_file():
        raise UserError(f"command: there is no file {brief(word)} in {directory}")
    return str(path) if not word.startswith("-") and len(word) < 4096 and path.is_file() else word


def label_of(found: Sequence[str]) -> str:
    """Return the name of a command in tables: its words, without interpreter and placeholders. Files appear by their
    names alone. The name also marks a command that evaluates itself.

    >>> label_of(["python", "/home/me/my_learner.py", "--lr", ".1", "{sequence}", "{out}"])
    'cmd:my_learner.py --lr .1 [self-graded]'
    >>> label_of(["python", "/home/me/my_learner.py", "{sequence}", "{predict}", "{out}"])
    'cmd:my_learner.py'
    """
    kept = [Path(word).name if "/" in word and "=" not in word else word for word in found if word not in PLACES]
    if len(kept) > 1 and _INTERPRETER.fullmatch(kept[0]):
        kept = kept[1:]
    return PREFIX + " ".join(kept) + ("" if predicts(found) else SELF_GRADED)


def predicts(found: Sequence[str]) -> bool:
    """Whether these words ask for predictions, which we grade."""
    return any(PREDICT in word for word in found)
