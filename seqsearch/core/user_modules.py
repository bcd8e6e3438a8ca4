"""Users' own files as modules: a folder is a package of its own, in which files import their neighbours by name.

`sys.path` is left alone, so that two folders with a ``helpers.py`` each do not mix. An ``import`` in such a file takes a file
beside the one that was named, or a folder there with ``__init__.py``, before it looks elsewhere.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from seqsearch.core.installation import OURS, ROOT, others_in

PREFIX = "seqsearch_user_"
COPIES = "code"
"""Folder of a run with copies of the user's custom code, which a call from Python has written there."""


def module(path: Path) -> ModuleType:
    """The module of an own file; it is run once a process.

    Args:
        path: absolute, without links.

    Raises:
        ImportError: it imports a neighbour that has the name of an installed module, or that its identity cannot follow.
        Exception: whatever the file raises; nothing of this attempt is kept.
    """
    package = _package(path.parent)
    name = f"{package.__name__}.{path.stem.replace('.', '_')}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    made, before = importlib.util.module_from_spec(spec), set(sys.modules)
    package.named.append(path)
    sys.modules[name] = made  # dataclasses look their module up while it is being executed
    try:
        spec.loader.exec_module(made)
    except BaseException:
        for new in [m for m in sys.modules if m.startswith(PREFIX) and m not in before]:
            del sys.modules[new]
        raise
    return made


def forget() -> None:
    """Own files are run anew when they are next loaded. The process of a notebook lives long, and its files are edited."""
    for name in [n for n in sys.modules if n.startswith(PREFIX)]:
        del sys.modules[name]


def place(trace: TracebackType | None, *packages: str) -> str:
    """``FILE.py:LINE`` of the last call in a user's own file, or in one of these packages; empty if there is none. The copy of a
    file in a run is named by its path there."""
    found = ""
    for frame, line in traceback.walk_tb(trace):
        name, file = str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename
        own = name.startswith(PREFIX) or name.partition(".")[0] in packages
        if own and not file.startswith("<"):  # what dataclasses write
            path = Path(file)
            found = f"{os.path.join(*path.parts[-3:]) if _holds_copies(path.parent) else path.name}:{line}"
    return found


class _Package(ModuleType):
    """A folder of own files. Its ``__init__.py`` is not run."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name)
        self.folder, self.__path__ = folder, []
        self.named: list[Path] = []
        """The files in it that were named; only what they import may be loaded."""


def _package(folder: Path) -> _Package:
    name = PREFIX + hashlib.blake2b(str(folder).encode(), digest_size=8).hexdigest()
    if not any(isinstance(f, _Finder) for f in sys.meta_path):
        sys.meta_path.append(_Finder())
    found = sys.modules.setdefault(name, _Package(name, folder))
    assert isinstance(found, _Package)
    return found


class _Finder(MetaPathFinder):
    """Finds neighbours as modules of their folder's package."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        from seqsearch.core.identity import closure  # brings numpy, which a command line that is only read does without

        name, _, inner = fullname.partition(".")
        package = sys.modules.get(name)
        if not isinstance(package, _Package) or (file := _file(package.folder, inner)) is None:
            return None
        if file not in closure(package.named):
            raise ImportError(
                f"{file.name} is a link, or imported otherwise than by an import statement: changes of it would go unseen"
            )
        spec = importlib.util.spec_from_file_location(fullname, file, loader=_Loader(fullname, str(file)))
        if spec is not None and spec.submodule_search_locations is not None:
            spec.submodule_search_locations.clear()  # with no folder to look in, nobody else finds what is in it
        return spec


class _Loader(SourceFileLoader):
    """Runs an own file with an ``import`` that knows its neighbours."""

    def get_code(self, fullname: str) -> CodeType:
        """Compiled from its text always: what is remembered beside it may be older by less than a second."""
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        package = module.__name__.partition(".")[0]
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": partial(_import, package)}
        super().exec_module(module)


def _import(
    package: str,
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """As `builtins.__import__`, for a file of this package."""
    top = name.partition(".")[0]
    if not level and top in OURS:
        _refuse_other(package, top)
    importing = str((globals or {}).get("__file__", ""))
    if level or not _is_neighbour(package, top, importing):
        return builtins.__import__(name, globals, locals, fromlist or (), level)
    found = builtins.__import__(f"{package}.{name}", globals, locals, fromlist or (), 0)
    return found if fromlist else sys.modules[f"{package}.{top}"]


def _is_neighbour(package: str, top: str, importing: str) -> bool:
    """Whether a name is that of a file beside the one that was named.

    Raises:
        ImportError: it is that of another module, too.
    """
    file = _file(_folder(package), top)
    if file is None or top in OURS or str(file) == importing:  # a checkout of ours may lie there
        return False
    installed = None if _holds_copies(_folder(package)) else _installed(top)
    if installed is None:
        return True
    if installed == str(file):
        return False
    raise ImportError(f"{top!r} is {file.name} beside it and an installed module, too: rename {file.name}")


def _holds_copies(folder: Path) -> bool:
    """Whether a folder is ``RUN/code/<digest>``, with copies of a user's files: they go before the files that they are of."""
    return folder.parent.name == COPIES and re.fullmatch("[0-9a-f]{16}", folder.name) is not None


def _refuse_other(package: str, top: str) -> None:
    """
    Raises:
        ImportError: a package of ours is imported, and one of the user's that has its name lies beside the file.
    """
    if other := next((o for o in others_in(_folder(package)) if o.stem == top), None):
        raise ImportError(f"{top!r} is {other} beside it and {ROOT / top} of seqsearch, too: rename {other.name}")


def _folder(package: str) -> Path:
    found = sys.modules[package]
    assert isinstance(found, _Package)
    return found.folder


def _installed(name: str) -> str | None:
    """Where a module lies that is no neighbour, or what kind it is (``built-in``); None: there is none.

    The working directory does not count: workers run in others.
    """
    here = os.getcwd()
    elsewhere = [p for p in sys.path if p and p != here]
    for finder in sys.meta_path:
        spec = finder.find_spec(name, elsewhere if finder is PathFinder else None)
        if spec is not None and spec.origin is not None:
            return spec.origin
    return None


def _file(folder: Path, name: str) -> Path | None:
    path = folder.joinpath(*name.split("."))
    return next((f for f in (path / "__init__.py", path.with_name(path.name + ".py")) if f.is_file()), None)
