"""``seqsearch new``: writes a file for the user to begin with.

Each template is a file of `templates` that works as it stands.
"""

from __future__ import annotations

import importlib.util
import io
import keyword
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path

import click

from protocols.cli.types import Choice
from seqsearch.core.errors import UserError
from seqsearch.core.installation import shipped

FOLDER = Path(__file__).parent / "templates"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Kind:
    """A kind of file that ``seqsearch new`` can write.

    Attributes:
        what: description for the help.
        suffix: suffix of the template and of the file.
        then: the next command, with ``{file}`` and the class as ``{name}``.
        named: the class or function in the template, which gets the file's name; empty if the template has none.
    """

    what: str
    suffix: str
    then: str
    named: str = ""


_CHECK = "seqsearch check {file}:{name}"
KINDS = {
    "method": Kind("a method with a parameter, on frozen features", ".py", _CHECK, "ShrunkenMeans"),
    "replay": Kind("a method that replays stored images", ".py", _CHECK, "TinyReplay"),
    "pairs": Kind("a method of image-text pairs", ".py", _CHECK, "TokenHead"),
    "learner": Kind("a learner of streams", ".py", _CHECK, "FadingMeans"),
    "pool": Kind("a pool: images of a zip", ".py", _CHECK, "ZippedImages"),
    "stream": Kind("a stream of samples in time", ".py", _CHECK, "drifting_stripes"),
    "command": Kind(
        "a learner by command, which runs a strategy of Avalanche",
        ".py",
        "seqsearch check 'cmd:python {file} {{sequence}} {{predict}} {{out}}'",
    ),
    **{
        name: Kind(f"settings of seqsearch {name}", ".yaml", f"seqsearch {name} --config {{file}} --dry-run")
        for name in ("cldyb", "edge", "gtep", "online", "mcil")
    },
    "cluster": Kind("a cluster for Ray's launcher", ".yaml", "ray up -y {file}"),
}


def template(kind: str) -> Path:
    """The file of a kind.

    Raises:
        UserError: this installation does not have it.
    """
    return shipped(FOLDER / f"{kind}{KINDS[kind].suffix}")


@click.command(
    help="Write a file of KIND to begin with into this folder, as NAME.py or NAME.yaml; one that is there stays.\n\n\b\n"
    + "".join(f"{name.ljust(9)}{kind.what}\n" for name, kind in KINDS.items())
    + "\n\b\nseqsearch new method mine\nseqsearch new gtep study"
)
@click.argument("kind", metavar="KIND", type=Choice(tuple(KINDS), case_sensitive=False))
@click.argument("name", required=False)
def new(kind: str, name: str | None) -> None:
    of = KINDS[kind]
    name = name or (f"my_{kind}" if of.named else kind)
    if not _NAME.fullmatch(name):
        raise UserError(f"NAME {name!r}: letters, digits and _ alone, a letter first; the file is NAME{of.suffix}")
    text, file = template(kind).read_text(encoding="utf-8"), Path(f"{name}{of.suffix}")
    named = name if of.named.islower() else "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    if of.named:
        if keyword.iskeyword(named) or named in _names(text):
            raise UserError(f"NAME {name!r}: {named} means something else in the file: choose another name")
        text = text.replace(of.named, named)
    _write(file, text.replace(f"{kind}{of.suffix}", file.name))
    click.echo(f"{file}: {of.what}. Next: {of.then.format(file=file, name=named)}")


def _names(code: str) -> set[str]:
    """All names that Python code uses; words of comments and texts are none."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def _write(file: Path, text: str) -> None:
    """A new file.

    Raises:
        UserError: there is something of its name already, also a link; it would hide a module; it cannot be written.
    """
    there = importlib.util.find_spec(file.stem) if file.suffix == ".py" and not file.exists() else None
    if there is not None and there.origin is not None:  # more than a folder of that name
        raise UserError(f"{file} would hide the installed module {file.stem}: choose another name")
    try:
        with file.open("x", encoding="utf-8") as made:
            made.write(text)
    except FileExistsError:
        raise UserError(f"{file} is there already, and stays as it is: choose another name") from None
    except OSError as error:
        raise UserError(f"{file} cannot be written into this folder: {error.strerror}") from None
