"""Find a method, learner, pool, stream, backbone, scenario or format by name: one module each, one ``build`` in it."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from seqsearch.core import command_line, user_modules
from seqsearch.core.deadline import ends_session
from seqsearch.core.declared import module as declared_module
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_item
from seqsearch.core.installation import OURS, ROOT
from seqsearch.core.kinds import PACKAGES
from seqsearch.core.kinds import ItemKind as ItemKind
from seqsearch.core.kinds import names as names
from seqsearch.core.paths import at_home
from seqsearch.core.text import did_you_mean

ELSEWHERE: dict[ItemKind, tuple[ItemKind, str]] = {
    "learner": (
        "method",
        "it is a method of tasks, for seqsearch cldyb, edge, gtep, mcil or score; of learners of streams ",
    ),
    "method": ("learner", "it is a learner of streams, for seqsearch online; of methods of tasks "),
}
"""By kind: another one whose names may be taken for its own, and where these belong."""


def load(kind: ItemKind, target: str) -> Any:
    """The ``build`` of ``target``: a name, ``file.py:Object`` or ``package.module:Object``.

    A backbone may also be ``NAME:VARIANT``: the variant is the first argument of its ``build``.

    Raises:
        UserError: there is no such thing, or its file does not load.
    """
    if ":" in target:
        module_name, _, attribute = target.rpartition(":")
        if kind == "backbone" and module_name in names(kind):
            return partial(load(kind, module_name), attribute)
        return _attribute(_user_module(kind, module_name), attribute, target, kind)
    check_name(kind, target)
    return importlib.import_module(f"{PACKAGES[kind]}.{target}").build


def check_name(kind: ItemKind, target: str) -> None:
    """Raises UserError: ``target`` is none of the names of a kind; those that look most like it come first."""
    if target.endswith(".py"):
        raise UserError(f"{kind} {target!r}: name the class in it too, {target}:CLASS")
    if target not in (known := names(kind)):
        elsewhere, said = ELSEWHERE.get(kind, (kind, ""))
        meant = said if said and target in names(elsewhere) else did_you_mean(target, known)
        raise UserError(f"unknown {kind} {target!r}: {meant}there are {', '.join(known)}; an own one is FILE.py:OBJECT")


def declared(kind: ItemKind, name: str) -> Any:
    """The ``build`` of one of ours with what it declares (class, `Config`, capabilities, signature), without the libraries
    that it computes with, unless they are imported already: to look at, not to be run.

    Raises:
        UserError: there is no such thing.
    """
    if "torch" in sys.modules:
        return load(kind, name)
    check_name(kind, name)
    try:
        return declared_module(f"{PACKAGES[kind]}.{name}").build
    except Exception:  # whatever it does at its top: a stand-in cannot
        return load(kind, name)


def _user_module(kind: ItemKind, name: str) -> ModuleType:
    if not name.endswith(".py"):
        if os.path.isfile(f"{name}.py") and not _found(name):
            raise UserError(f"{kind} module {name!r} is not installed, and {name}.py is a file: write {name}.py:CLASS")
        with user_code(f"{kind} module {name!r} cannot be imported"):
            return _imported(name)
    path = at_home(name).resolve()
    if not os.path.isfile(path):
        raise UserError(f"{kind} file {name!r} does not exist")
    with user_code(f"{kind} file {name!r} does not load"):
        return user_modules.module(path)


def _found(module: str) -> bool:
    """Whether Python finds a module."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _imported(name: str) -> ModuleType:
    """A module by its full name.

    Raises:
        ImportError: there is none; of a name that begins as one of ours, it says where it was looked for.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (top := name.partition(".")[0]) in OURS:
            raise ImportError(
                f"{error}; {top} is {ROOT / top} of seqsearch: give a folder of yours another name"
            ) from None
        raise


@contextmanager
def user_code(what: str) -> Iterator[None]:
    """A block that calls code of the user's, for once, before anything is computed. (What calls ``os._exit`` ends the process.)

    Raises:
        UserError: whatever that code raises, `SystemExit` and the like included, but no `MemoryError`: ``what`` happened.
    """
    try:
        yield
    except (UserError, MemoryError):
        raise
    except BaseException as error:
        if ends_session(error):
            raise
        said = " ".join(str(error).split())[:300]
        place = "" if isinstance(error, SyntaxError) else user_modules.place(error.__traceback__)  # it names its own
        where = f" ({place})" if place else ""
        raise UserError(f"{what}: {type(error).__name__}{f': {said}' if said else ''}{where}; mend it") from None


def _attribute(module: ModuleType, attribute: str, target: str, kind: ItemKind) -> Any:
    if not hasattr(module, attribute):
        there = [n for n, v in vars(module).items() if inspect.isclass(v) and v.__module__ == module.__name__]
        raise UserError(f"{kind} {target!r}: no {attribute!r} in that file; it has: {', '.join(there) or 'no class'}")
    return getattr(module, attribute)


def made(kind: ItemKind, item: Item, members: Iterable[str]) -> Any:
    """Build an item from its parameters, and check that the result has these ``members``.

    Raises:
        UserError: unknown item or option, or the result does not have one of the members.
    """
    build = load(kind, item.target)
    with user_code(f"{kind} {item.text!r} cannot be made"):
        try:
            found = build(**dict(item.params))
        except TypeError as error:
            known = list(inspect.signature(build).parameters)
            check_options(kind, item, known)
            raise UserError(f"{kind} {item.text!r}: {error}") from None
        if missing := [n for n in members if not hasattr(found, n)]:
            raise UserError(f"{kind} {item.text!r} has no {', '.join(missing)}: see seqsearch/{kind}s/base.py")
    return found


def check_options(kind: ItemKind, item: Item, known: Iterable[str]) -> None:
    """Raises UserError: an item gives an option that is not ``known``."""
    known = list(known)
    if unknown := next((n for n, _ in item.params if n not in known), None):
        meant = did_you_mean(unknown, known)
        raise UserError(f"{kind} {item.text!r}: no option {unknown!r}; {meant}it has {', '.join(known) or 'none'}")


def located(item: Item, directory: Path) -> Item:
    """The item with ``FILE.py:OBJ``, or the files of a command, as workers find them, whatever folder they run in.

    Its label keeps the names of files only.

    Raises:
        UserError: the program of a command is not found.
    """
    if command_line.is_one(item.target):
        words = command_line.located(command_line.words(item.target), directory)
        return replace(item, target=command_line.target_of(words), text=command_line.label_of(words))
    file, colon, name = item.target.rpartition(":")
    if not (colon and file.endswith(".py")):
        return item
    path = (directory / at_home(file)).resolve()
    return replace(item, target=f"{path}:{name}", text=item.text.replace(file, path.name, 1))


def located_text(text: str, kind: ItemKind, directory: Path) -> str:
    """An item's text with the path in ``FILE.py:OBJ``, or those in a command, made absolute.

    Raises:
        UserError: as `parse_item` and `located`.
    """
    item = parse_item(text, kind)
    if command_line.is_one(item.target):
        return located(item, directory).target
    file, colon, name = item.target.rpartition(":")
    if not (colon and file.endswith(".py")):
        return item.text
    return f"{(directory / at_home(file)).resolve()}:{name}" + item.text[len(item.target) :]
