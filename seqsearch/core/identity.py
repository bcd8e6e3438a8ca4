"""Identities of code: digests over the files that a module imports, directly or through others, and versions of libraries.

What counts is what runs: imports inside functions count, those for type checkers alone do not. Followed are imports within this
package, and, from a user's own file or package, those of files beside it, with the ``__init__.py`` that run before them.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import platform
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from seqsearch.core.digests import digest_of

ROOT = Path(__file__).parents[2]
PACKAGE = "seqsearch"


def closure(files: Iterable[Path]) -> tuple[Path, ...]:
    """These source files and all that they import, sorted."""
    found: set[Path] = set()
    waiting = [Path(f).resolve() for f in files]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported(file, file.stat().st_mtime_ns)
    return tuple(sorted(found))


def code_digest(files: Iterable[Path]) -> str:
    """Digest of the content of the `closure` of these files; where they lie has no part in it."""
    return digest_of("code", sorted(f.read_bytes() for f in closure(files)))


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


@cache
def _imported(file: Path, _: int) -> tuple[Path, ...]:
    """Files that a file imports; remembered until it changes."""
    own = not file.is_relative_to(ROOT / PACKAGE)
    found: list[Path | None] = []
    for level, name in _names(ast.parse(file.read_bytes(), file.name)):
        if level:  # from . import other
            folders = [file.parents[level - 1]]
        elif name.split(".")[0] == PACKAGE:
            folders = [ROOT]
        else:
            folders = _upwards(file) if own else [_top(file)]
        found += [_module(folder, name) for folder in folders]
        if own and folders != [ROOT]:  # import a.b: runs a, too
            parts = name.split(".")
            found += [_module(folder, ".".join(parts[:n])) for folder in folders for n in range(1, len(parts))]
    return tuple(f.resolve() for f in found if f is not None)


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


def _top(file: Path) -> Path:
    """The folder that a user's own imports begin in: that of the outermost package around the file."""
    return _upwards(file)[-1]


def _upwards(file: Path) -> list[Path]:
    """The folder of a file and, while they are packages, those around it: an own import may begin in any of them."""
    folders = [file.parent]
    while (folders[-1] / "__init__.py").exists():
        folders.append(folders[-1].parent)
    return folders


def _module(root: Path, name: str) -> Path | None:
    path = root.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None
