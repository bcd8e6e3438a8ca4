"""Classes of a user's notebook, script or module as files in the run folder, so that workers, digests and ``--resume`` see code.

A class of a notebook is known by the code objects of its methods, whose file name is that of its cell: `inspect.getsource` fails
for it. The file has the class, and above it the imports that it uses, wherever they were written.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib
import inspect
import linecache
import shutil
import symtable
import sys
import sysconfig
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.identity import ROOT, closure
from seqsearch.core.text import shown
from seqsearch.results.run import CODE
from seqsearch.storage.files import atomic_path


@dataclass(frozen=True)
class OwnCode:
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
        return run / CODE / self.digest

    def target(self, run: Path) -> str:
        """The item that settings name: ``FILE.py:CLASS``, or ``package.module:CLASS``."""
        if isinstance(self.main, str):
            return f"{self.main}:{self.name}"
        return f"{self.below(run).absolute() / self.main}:{self.name}"

    def write(self, run: Path) -> None:
        """Write the files, unless they are there."""
        for path, text in self.files:
            file = self.below(run) / path
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                with atomic_path(file) as temporary:
                    temporary.write_text(text, encoding="utf-8")


def remove(run: Path, codes: Sequence[OwnCode]) -> None:
    """Remove code of a run that was refused, and the folder if nothing else is in it."""
    for code in codes:
        shutil.rmtree(code.below(run), ignore_errors=True)
    for folder in (run / CODE, run):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def own_code(made: type, kind: str) -> OwnCode:
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
    if _is_installed(Path(file)):
        return OwnCode(made.__name__, (), made.__module__)
    return _of_module(made.__name__, Path(file).resolve())


def _is_installed(file: Path) -> bool:
    """Whether a module is ours, or of a library, so that workers have it and its version is recorded."""
    paths = sysconfig.get_paths()
    return any(
        file.resolve().is_relative_to(p)
        for p in (ROOT / "seqsearch", paths["purelib"], paths["platlib"], paths["stdlib"])
    )


def _of_module(name: str, file: Path) -> OwnCode:
    """A module's file, and those that it imports from its own folder."""
    own = [f for f in closure([file]) if not f.is_relative_to(ROOT)]
    folder = min((f.parent for f in own), key=lambda p: len(p.parts))
    files = tuple((f.relative_to(folder), f.read_text(encoding="utf-8")) for f in own)
    return OwnCode(name, files, file.relative_to(folder))


# ------------------------------------------------------------------------------------------------ notebooks and scripts


def _of_main(made: type, kind: str, names: dict[str, Any]) -> OwnCode:
    cell = next((c.co_filename for c in _codes(made) if linecache.getlines(c.co_filename)), None)
    found = _definition(made.__name__, "".join(linecache.getlines(cell))) if cell else None
    if found is None:
        raise UserError(
            f"{kind} {made.__name__}: its source is unknown here: write it into a cell of a notebook or a file, FILE.py:CLASS"
        )
    text, future = found
    imports = sorted({_import_of(name, made.__name__, kind, names) for name in _free(text, made.__name__)})
    head = ["from __future__ import annotations"] if future else []
    body = "\n".join([*head, *imports, "", "", text, ""])
    path = Path(f"{made.__name__}.py")
    return OwnCode(made.__name__, ((path, body),), path)


def _codes(made: type) -> Iterator[types.CodeType]:
    """Code objects of the functions of a class and of the classes in it, those written by dataclasses last."""
    for value in vars(made).values():
        function = getattr(value, "__func__", getattr(value, "fget", value))
        function = inspect.unwrap(function) if callable(function) else function
        if isinstance(function, types.FunctionType) and not function.__code__.co_filename.startswith("<string>"):
            yield function.__code__
        elif inspect.isclass(value) and value.__qualname__.startswith(f"{made.__qualname__}."):
            yield from _codes(value)


def _definition(name: str, cell: str) -> tuple[str, bool] | None:
    """The source of a class at the top of a cell, decorators included; whether annotations are postponed there."""
    lines = [line for line in cell.splitlines() if not line.lstrip().startswith(("%", "!"))]  # magics of notebooks
    text = "\n".join(lines)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name]
    if not classes:
        return None
    last = classes[-1]
    first = min([last.lineno, *(d.lineno for d in last.decorator_list)])
    future = any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body)
    return "\n".join(lines[first - 1 : last.end_lineno]), future


def _free(text: str, own: str) -> set[str]:
    """Names that a class looks up outside of itself."""
    found: set[str] = set()

    def visit(table: symtable.SymbolTable) -> None:
        top = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or top):
                found.add(symbol.get_name())
        for child in table.get_children():
            visit(child)

    visit(symtable.symtable(text, own, "exec"))
    return {name for name in found if name != own and not hasattr(builtins, name) and not name.startswith("__")}


def _import_of(name: str, own: str, kind: str, names: dict[str, Any]) -> str:
    """The import statement that gives a name its value.

    Raises:
        UserError: it is no import.
    """
    if name not in names:
        raise UserError(f"{kind} {own} uses {name!r}, which is not defined here: import or define it in the class")
    value = names[name]
    if isinstance(value, types.ModuleType):
        return f"import {value.__name__} as {name}"
    for module, attribute in _homes(name, value):
        return f"from {module} import {attribute}" + (f" as {name}" if name != attribute else "")
    raise UserError(
        f"{kind} {own} uses {name!r}, which is no import, so that workers do not have it: put it into the class, or both into a "
        "file (FILE.py:CLASS)"
    )


def _homes(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Modules that can be imported, with the name of a value there: where it was defined, and where cells import it from."""
    defined = str(getattr(value, "__module__", "")), str(getattr(value, "__qualname__", getattr(value, "__name__", "")))
    imported = [found for source in _cells() if (found := _imported(source, name))]
    for module, attribute in (*imported, defined):
        if module in ("", "__main__", "None") or not attribute.isidentifier():
            continue
        try:
            there = getattr(importlib.import_module(module), attribute, None)
        except ImportError:
            continue
        if there is value:
            yield module, attribute


def _cells() -> Iterator[str]:
    """Sources of the notebook's cells, the latest first, or of the script."""
    main = sys.modules.get("__main__")
    cells = getattr(main, "In", None)
    if isinstance(cells, list):
        yield from (text for text in reversed(cells) if isinstance(text, str))
    elif file := getattr(main, "__file__", None):
        yield "".join(linecache.getlines(file))


def _imported(source: str, name: str) -> tuple[str, str] | None:
    """The module and the name there that ``from MODULE import NAME as name`` in a source takes."""
    try:
        tree = ast.parse("\n".join(s for s in source.splitlines() if not s.lstrip().startswith(("%", "!"))))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return node.module, alias.name
    return None
