"""Identities of code: digests over the files that a module imports, directly or through others, and versions of libraries.

What counts is what runs: imports inside functions count, those for type checkers alone do not, and of a file its code counts, not
its comments and docstrings. Followed are imports within this package, and, from a user's own file or package, those of files
beside it, with the ``__init__.py`` that run before them. Installed libraries count by their versions alone: identities are the
same in a checkout, in an editable installation and in an installed wheel.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from seqsearch.core.digests import digest_of
from seqsearch.core.installation import ROOT as FOUND
from seqsearch.core.source import meaning

ROOT = FOUND.resolve()
PACKAGE = "seqsearch"


def closure(files: Iterable[Path]) -> tuple[Path, ...]:
    """These source files and all that they import, sorted."""
    found: set[Path] = set()
    waiting = [Path(f).resolve() for f in files]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _read(file).imports
    return tuple(sorted(found))


def code_digest(files: Iterable[Path]) -> str:
    """Digest of what the code of the `closure` of these files does; where they lie has no part in it."""
    return digest_of("code", sorted(_read(f).digest for f in closure(files)))


def module_file(name: str) -> Path:
    """The file of a module of this package, by its name; it is not imported."""
    found = _module(ROOT, name)
    assert found is not None, name
    return found


def source_files(made: Any) -> list[Path]:
    """The file that a class or function comes from; none if it was not read from one."""
    file = inspect.getsourcefile(made)
    return [Path(file)] if file else []


READ_TEXTS = ("transformers", "tokenizers")
"""Libraries by which backbones read texts; they are optional."""
version = cache(installed_version)
"""Of an installed package, which takes milliseconds to read."""


def versions(texts: bool = False) -> dict[str, str]:
    """Versions of the libraries whose arithmetic decides the numbers; none is imported.

    Args:
        texts: those of `READ_TEXTS` that are installed as well.
    """
    faiss = "faiss-gpu" if sys.platform == "linux" and platform.machine() == "x86_64" else "faiss-cpu"
    others = ("torch", "torchvision", "timm", "numpy", "scipy", "scikit-learn", faiss)
    found = {name: version(name) for name in ("seqsearch", *others)}
    for name in READ_TEXTS if texts else ():
        with contextlib.suppress(PackageNotFoundError):  # an own backbone may do without
            found[name] = version(name)
    return found


@dataclass(frozen=True)
class _Source:
    """A source file as it was read: the files that it imports, and the digest of what it does."""

    imports: tuple[Path, ...]
    digest: str


def _read(file: Path) -> _Source:
    return _read_at(file, file.stat().st_mtime_ns)


@cache
def _read_at(file: Path, _: int) -> _Source:
    """Remembered until the file changes."""
    tree = ast.parse(file.read_bytes(), file.name)
    return _Source(tuple(_imported(file, tree)), digest_of(meaning(tree)))


def _imported(file: Path, tree: ast.AST) -> Iterator[Path]:
    own = not file.is_relative_to(ROOT / PACKAGE)
    for level, name in _names(tree):
        if level:  # from . import other
            folders = [file.parents[level - 1]]
        elif name.split(".")[0] == PACKAGE:
            folders = [ROOT]
        else:
            folders = _upwards(file, name) if own else []
        parts = name.split(".")
        first = 1 if own and folders != [ROOT] else len(parts)  # import a.b: runs a, too
        for folder in folders:
            found = (_module(folder, ".".join(parts[:n])) for n in range(first, len(parts) + 1))
            yield from (f.resolve() for f in found if f is not None)


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Names that may be modules, each with the folders upwards that it is relative to: ``from a import b``: ``a``, ``a.b``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for other in node.orelse:
                yield from _names(other)
        elif isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            begin = [node.module] if node.module else []
            yield from ((node.level, ".".join(begin)) for _ in begin)
            yield from ((node.level, ".".join([*begin, alias.name])) for alias in node.names)
        elif not isinstance(node, ast.expr):  # there is no import in an expression
            yield from _names(node)


def _upwards(file: Path, name: str) -> list[Path]:
    """Folders in which a user's import of ``name`` may begin: that of the file and, while they are packages, those around it.

    Among installed libraries it begins only in the file's own one.
    """
    library = next((folder for folder in file.parents if _holds_libraries(folder)), None)
    folders = [file.parent]
    while (folders[-1] / "__init__.py").exists():
        folders.append(folders[-1].parent)
    if library is None:
        return folders
    inner = [folder for folder in folders if folder != library]
    top = file.relative_to(library).parts[0].removesuffix(".py")
    return [*inner, library] if name.split(".")[0] == top else inner


@cache
def _holds_libraries(folder: Path) -> bool:
    """Packages are installed there, as in ``site-packages``: pip notes each in a folder beside it."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return any(entry.name.endswith(".dist-info") for entry in entries)
    return False


def _module(root: Path, name: str) -> Path | None:
    path = root.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None
