"""Classes of a user's notebook, script or module as files in the run folder, so that workers, digests and ``--resume`` see code.

A class of a notebook is known by the code objects of its methods, whose file name is that of its cell: `inspect.getsource` fails
for it. The file has the class, and above it the imports that it uses, wherever they were written.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import hashlib
import importlib
import importlib.util
import inspect
import linecache
import shutil
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.api.definition import Definition, code_of, definitions, imported_as
from seqsearch.core.errors import UserError
from seqsearch.core.identity import ROOT, closure
from seqsearch.core.installation import OURS
from seqsearch.core.text import shown
from seqsearch.core.user_modules import COPIES
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside


@dataclass(frozen=True)
class CustomCode:
    """The code of a class, to be written into a run folder.

    Attributes:
        name: of the class.
        files: source texts by path, relative to a folder of their own; none for a class of an installed package.
        main: the path among them that has the class, or the name of the package's module.
    """

    name: str
    files: tuple[tuple[Path, str], ...]
    main: Path | str

    @property
    def digest(self) -> str:
        """Of all texts and paths: code that was changed gets another folder."""
        said = hashlib.blake2b(digest_size=8)
        for path, text in self.files:
            said.update(f"{path}\0{text}\0".encode())
        return said.hexdigest()

    def below(self, run: Path) -> Path:
        """The folder of the code in a run."""
        return run / COPIES / self.digest

    def target(self, run: Path) -> str:
        """The item that settings name: ``FILE.py:CLASS``, or ``package.module:CLASS``."""
        if isinstance(self.main, str):
            return f"{self.main}:{self.name}"
        return f"{self.below(run).absolute() / self.main}:{self.name}"

    def beside(self, others: Iterable[CustomCode]) -> CustomCode:
        """The same code, in a file of another name if another class has one of its name: labels have the names of files."""
        if isinstance(self.main, str) or all(self.main != other.main for other in others):
            return self
        main = self.main.with_name(f"{self.main.stem}_{self.digest[:4]}.py")
        files = tuple((main if path == self.main else path, text) for path, text in self.files)
        return dataclasses.replace(self, files=files, main=main)

    def write(self, run: Path) -> None:
        """Write the files, unless they are there."""
        for path, text in self.files:
            folder = Inside.below(run).at(COPIES, self.digest, *path.parts[:-1])
            if not folder.has(path.name):
                with atomic_file(folder, path.name) as file:
                    file.write(text.encode())


def remove(run: Path, codes: Sequence[CustomCode]) -> None:
    """Remove code of a run that was refused, and the folder if nothing else is in it."""
    for code in codes:
        shutil.rmtree(code.below(run), ignore_errors=True)
    for folder in (run / COPIES, run):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def custom_code(made: type, kind: str) -> CustomCode:
    """The code of a class.

    Raises:
        UserError: its source is unknown, or it uses names of a notebook that are no imports.
    """
    if not inspect.isclass(made):
        raise UserError(f"{kind} {shown(repr(made))[:80]} is no class: name a class, a name or FILE.py:CLASS")
    if "<locals>" in made.__qualname__ or "." in made.__qualname__:
        raise UserError(
            f"{kind} {made.__qualname__}: it is defined inside {made.__qualname__.rpartition('.')[0]}: move it out"
        )
    module = sys.modules.get(made.__module__)
    if made.__module__ == "__main__":
        return _of_main(made, kind, vars(module) if module else {})
    file = getattr(module, "__file__", None)
    if not file or getattr(module, made.__name__, None) is not made:
        raise UserError(
            f"{kind} {made.__name__}: its source is unknown: write it as a class statement, in a cell or a file"
        )
    if is_installed(Path(file)):
        return CustomCode(made.__name__, (), made.__module__)
    return _of_module(made.__name__, Path(file).resolve())


def is_installed(file: Path) -> bool:
    """Whether a module is ours, or of a library, so that workers have it and its version is recorded."""
    paths = sysconfig.get_paths()
    folders = [ROOT / name for name in OURS] + [Path(paths[name]) for name in ("purelib", "platlib", "stdlib")]
    return any(file.resolve().is_relative_to(folder) for folder in folders)


def _of_module(name: str, file: Path) -> CustomCode:
    """A module's file, and those that it imports from its own folder."""
    own = [f for f in closure([file]) if not is_installed(f)]
    folder = min((f.parent for f in own), key=lambda p: len(p.parts))
    files = tuple((f.relative_to(folder), f.read_text(encoding="utf-8")) for f in own)
    return CustomCode(name, files, file.relative_to(folder))


# ------------------------------------------------------------------------------------------------ notebooks and scripts


def _of_main(made: type, kind: str, names: Mapping[str, Any]) -> CustomCode:
    found = next((d for source in _sources(made) for d in definitions(made.__name__, source) if d.makes(made)), None)
    if found is None:
        raise UserError(
            f"{kind} {made.__name__}: no cell and no script has the code that the class has now: run its cell again, or write it "
            "into a file, FILE.py:CLASS"
        )
    imports = sorted(filter(None, (_import_of(name, found, made, kind, names) for name in sorted(found.names))))
    head = ["from __future__ import annotations"] if found.postponed else []
    path, beside = Path(f"{made.__name__}.py"), dict[Path, str]()
    for module in (*(line.split()[1] for line in imports), *found.imported):
        beside |= _user_modules(module)
    if path in beside:
        raise UserError(f"{kind} {made.__name__}: it imports a file of its own name, {path}: rename one of them")
    body = "\n".join([*head, *imports, "", "", found.text, ""])
    return CustomCode(made.__name__, ((path, body), *sorted(beside.items())), path)


def _sources(made: type) -> Iterator[str]:
    """Texts that may have the definition of a class: those of its methods' cells, then all cells or the script."""
    codes = filter(None, map(code_of, vars(made).values()))
    yield from filter(None, ("".join(linecache.getlines(name)) for name in dict.fromkeys(c.co_filename for c in codes)))
    yield from _cells()


def _import_of(name: str, found: Definition, made: type, kind: str, names: Mapping[str, Any]) -> str:
    """The import statement that gives a name its value; empty for what Python has, and for annotations that are never evaluated.

    Raises:
        UserError: it is no import.
    """
    optional = name in found.optional
    if name == made.__name__:  # a base has the name, too
        for base in made.__bases__:
            for module, attribute in _homes(name, base):
                return _statement(module, attribute, name)
    known = {**vars(builtins), **names}
    if name not in known:
        if optional:
            return ""
        raise UserError(
            f"{kind} {made.__name__} uses {name!r}, which is not defined here: import or define it in the class"
        )
    value = known[name]
    if value is getattr(builtins, name, known):
        return ""
    if isinstance(value, types.ModuleType):
        return f"import {value.__name__} as {name}"
    for module, attribute in _homes(name, value):
        return _statement(module, attribute, name)
    if optional:
        return ""
    raise UserError(
        f"{kind} {made.__name__} uses {name!r}, which is no import, so that workers do not have it: put it into the class, or "
        "both into a file (FILE.py:CLASS)"
    )


def _statement(module: str, attribute: str, name: str) -> str:
    return f"from {module} import {attribute}" + (f" as {name}" if name != attribute else "")


def _homes(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Modules that can be imported, with the name of a value there: where it was defined, and where cells import it from."""
    defined = str(getattr(value, "__module__", "")), str(getattr(value, "__qualname__", getattr(value, "__name__", "")))
    imported = [found for source in _cells() if (found := imported_as(source, name))]
    for module, attribute in (*imported, defined):
        if module in ("", "__main__", "None") or not attribute.isidentifier():
            continue
        try:
            there = getattr(importlib.import_module(module), attribute, None)
        except ImportError:
            continue
        if there is value:
            yield module, attribute


def _user_modules(name: str) -> dict[Path, str]:
    """The files of a module that is neither installed nor Python's, and those that it imports, below the folder that it is
    imported from."""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) or getattr(_spec(name), "origin", None)
    if not file or not file.endswith(".py") or is_installed(Path(file)):
        return {}
    path, parts = Path(file).resolve(), name.split(".")
    folder = path.parents[len(parts) - (path.name != "__init__.py")]
    own = [f for f in closure([path]) if f.is_relative_to(folder)]
    return {f.relative_to(folder): f.read_text(encoding="utf-8") for f in own}


def _spec(name: str) -> Any:
    with contextlib.suppress(ImportError, ValueError):  # there is none, or it is half made
        return importlib.util.find_spec(name)
    return None


def _cells() -> Iterator[str]:
    """Sources of the notebook's cells, the latest first, or of the script."""
    main = sys.modules.get("__main__")
    cells = getattr(main, "In", None)
    if isinstance(cells, list):
        yield from (text for text in reversed(cells) if isinstance(text, str))
    elif file := getattr(main, "__file__", None):
        yield "".join(linecache.getlines(file))
