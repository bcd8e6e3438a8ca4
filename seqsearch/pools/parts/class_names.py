"""Names of classes from a file, for data sets whose folders are named by an id (ImageNet-R: ``n01443537``)."""

from __future__ import annotations

from collections.abc import Iterable

from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.text import counted, printable
from seqsearch.core.typed import brief
from seqsearch.storage.reading import content, parsed

MOST_BYTES = 256 << 20
"""Of a file that names classes or parts."""


def names_of(pool: str, file: object, folders: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The name of each class, by group and folder.

    Args:
        pool: name of the pool, for messages.
        file: a text file with a folder and its name in each line (``n01443537 goldfish``), or a ``.json`` file with an
            object of names by folder. Further folders in it do no harm.
        folders: group and folder of each class.

    Raises:
        UserError: the file cannot be read, names a folder twice or none of a class, or gives two classes of a group one
            name.
    """
    said = f"pool {pool!r}: names={file}"
    names = _read(said, file)
    found: dict[tuple[str, str], str] = {}
    taken: dict[tuple[str, str], str] = {}
    folders = list(folders)
    if missing := [folder for _, folder in folders if folder not in names]:
        raise UserError(
            f"{said} has no name for {counted(len(missing), 'folder')}, the first is {brief(missing[0])}: add a line "
            f"with it and its name, or remove the folder"
        )
    for group, folder in folders:
        name = names[folder]
        if other := taken.get((group, name)):
            raise UserError(
                f"{said} gives folders {brief(other)} and {brief(folder)} one name, {brief(name)}: change one of them"
            )
        taken[group, name], found[group, folder] = folder, name
    return found


def text_of(said: str, file: object) -> str:
    """The text of a file that an option names; ``said`` is the beginning of messages.

    Raises:
        UserError: it cannot be read, is too large, or is no UTF-8.
    """
    try:
        return content(at_home(str(file)), MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{said} is no UTF-8: save it as UTF-8") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(f"{said} cannot be read ({why}): name a file that is there") from None


def _read(said: str, file: object) -> dict[str, str]:
    """Names by folder."""
    text = text_of(said, file)
    pairs = _of_json(said, text) if str(file).lower().endswith(".json") else _of_lines(said, text)
    found = {printable(folder): printable(name) for folder, name in pairs.items()}
    if not found:
        raise UserError(f"{said} names no folder: it must have a line like 'n01443537 goldfish' for each")
    return found


def _of_json(said: str, text: str) -> dict[str, str]:
    try:
        found = parsed(text, unique=True)
    except ValueError as error:
        raise UserError(f"{said} is no JSON ({' '.join(str(error).split())[:80]}): mend it") from None
    if not isinstance(found, dict) or not all(isinstance(n, str) and n.strip() for n in found.values()):
        raise UserError(f'{said} must hold an object of names by folder, like {{"n01443537": "goldfish"}}')
    return {folder: name.strip() for folder, name in found.items()}


def _of_lines(said: str, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split(maxsplit=1)
        if not words:
            continue
        if len(words) == 1:
            raise UserError(
                f"{said}: line {number} is {brief(line.strip())}, must be a folder and its name: n01443537 goldfish"
            )
        folder, name = words
        if folder in found:
            raise UserError(f"{said}: line {number} names folder {brief(folder)} a second time: keep one of the lines")
        found[folder] = name.strip()
    return found
