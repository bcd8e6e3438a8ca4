"""Find a method, pool or backbone by name: one module each, one ``build`` in it."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import platform
import re
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError

ItemKind = Literal["method", "pool", "backbone"]
_PACKAGES: dict[ItemKind, str] = {
    "method": "seqsearch.methods",
    "pool": "seqsearch.pools",
    "backbone": "seqsearch.backbones",
}
_BUILDS = re.compile(rb"^(def build\(|build\b[^=\n]*= )", re.MULTILINE)
"""What an item's module has and no other. It is looked for in the text: to list a kind imports none of it."""


def names(kind: ItemKind) -> list[str]:
    """What there is of a kind, sorted, by listing its folder."""
    package = importlib.import_module(_PACKAGES[kind])
    folders = [Path(p) for p in package.__path__]
    return sorted(p.stem for folder in folders for p in folder.glob("*.py") if _BUILDS.search(p.read_bytes()))


def load(kind: ItemKind, target: str) -> Any:
    """The ``build`` of ``target``: a name, ``file.py:Object`` or ``package.module:Object``.

    Raises:
        UserError: there is no such thing, or its file does not load.
    """
    if ":" in target:
        module_name, _, attribute = target.rpartition(":")
        return _attribute(_user_module(kind, module_name), attribute, target, kind)
    if target.endswith(".py"):
        raise UserError(f"{kind} {target!r}: name the class in it too, {target}:CLASS")
    if target not in names(kind):
        raise UserError(f"unknown {kind} {target!r}: there are {', '.join(names(kind))}; an own one is FILE.py:OBJECT")
    return importlib.import_module(f"{_PACKAGES[kind]}.{target}").build


def _user_module(kind: ItemKind, name: str) -> ModuleType:
    if not name.endswith(".py"):
        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise UserError(f"{kind} module {name!r} cannot be imported: {error}") from None
    path = Path(name).expanduser().resolve()
    if not path.is_file():
        raise UserError(f"{kind} file {name!r} does not exist")
    alias = f"seqsearch_user_{path.stem}_{hashlib.blake2b(str(path).encode(), digest_size=4).hexdigest()}"
    if alias in sys.modules:
        return sys.modules[alias]
    spec = importlib.util.spec_from_file_location(alias, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{kind} file {name!r} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module  # dataclasses look their module up while it is being executed
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[alias]
        raise UserError(f"{kind} file {name!r} does not load: {type(error).__name__}: {error}") from None
    return module


def _attribute(module: ModuleType, attribute: str, target: str, kind: ItemKind) -> Any:
    if not hasattr(module, attribute):
        there = [n for n, v in vars(module).items() if inspect.isclass(v) and v.__module__ == module.__name__]
        raise UserError(f"{kind} {target!r}: no {attribute!r} in that file; it has: {', '.join(there) or 'no class'}")
    return getattr(module, attribute)


def source_digest(build: Any) -> str:
    """Digest of the source file that ``build`` comes from, and of the methods that it builds on: code that changes makes new
    states. (What all methods share is part of `seqsearch.training.world.engine_digest`.)"""
    found: dict[str, Any] = {}
    waiting = [build]
    while waiting:
        made = waiting.pop()
        module = inspect.getmodule(made)
        if module is None or module.__name__ in found:
            continue
        file = inspect.getsourcefile(made)
        found[module.__name__] = Path(file).read_bytes() if file else repr(made).encode()
        used = [v for v in vars(module).values() if inspect.isclass(v) or inspect.isfunction(v)]
        waiting += [v for v in used if v.__module__.startswith(f"{_PACKAGES['method']}.")]
    return digest_of(sorted(found.values()))


def versions() -> dict[str, str]:
    """Versions of the libraries whose arithmetic decides the numbers."""
    faiss = "faiss-gpu" if sys.platform == "linux" and platform.machine() == "x86_64" else "faiss-cpu"
    return {name: version(name) for name in ("seqsearch", "torch", "timm", "numpy", "scipy", "scikit-learn", faiss)}
