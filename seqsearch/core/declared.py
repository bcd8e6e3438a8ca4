"""Runs modules of this package without the libraries that they compute with. Lists, help and refusals read declarations
this way.

A module runs as on any import, from the same compiled code. Libraries that take seconds to import (torch, Arrow, SciPy)
are replaced by stand-ins. Only numpy and the standard library are not. Code can derive from a stand-in, and use it in
annotations and as a decorator, but a stand-in computes nothing. Classes, defaults, bounds and rules between parameters
are the module's own.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import sys
from abc import ABCMeta
from collections.abc import Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = "seqsearch"
ALIAS = "declared:"
"""Prefix of the names of such modules in `sys.modules`, where dataclasses and `inspect` look for them."""
IMPORTED = frozenset({"numpy", *sys.stdlib_module_names})
"""Libraries that are imported as they are. The same holds for ``seqsearch.core`` and for modules that have been
imported already."""


def module(name: str) -> ModuleType:
    """A module of this package by its full name, with stand-ins.

    Raises:
        Exception: it does something at its top that a stand-in cannot do: then it must be imported.
    """
    alias = ALIAS + name
    if alias in sys.modules:
        return sys.modules[alias]
    file = _file(name)
    made = ModuleType(alias)
    made.__file__, made.__package__ = str(file), name if file.stem == "__init__" else name.rpartition(".")[0]
    made.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
    code = importlib.machinery.SourceFileLoader(name, str(file)).get_code(name)
    assert code is not None, name
    sys.modules[alias] = made
    try:
        exec(code, made.__dict__)
    except BaseException:
        del sys.modules[alias]
        raise
    return made


class _StandIn(ABCMeta):
    """The type of stand-ins. They are classes, so that others may derive from them: whatever is asked of one is another."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _stand_in(name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        decorates = len(args) == 1 and not kwargs and isinstance(args[0], FunctionType | type)
        return args[0] if decorates else _stand_in(cls.__name__)

    def __getitem__(cls, _: Any) -> Any:
        return cls


def _stand_in(name: str) -> Any:
    return _StandIn(name, (), {})


def _file(name: str) -> Path:
    """Raises ImportError: there is no such module in this package."""
    path = ROOT.parent.joinpath(*name.split("."))
    found = next((f for f in (path.with_suffix(".py"), path / "__init__.py") if f.is_file()), None)
    if found is None:
        raise ImportError(f"no module {name}")
    return found


def _import(
    name: str,
    globals: dict[str, Any] | None = None,
    locals: Any = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """Replace ``import`` within such a module. Libraries become stand-ins, except for `IMPORTED` and for libraries that
    have been imported already."""
    if level:
        name, level = importlib.util.resolve_name("." * level + name, (globals or {})["__package__"]), 0
    top = name.partition(".")[0]
    if top in IMPORTED or name in sys.modules or name.startswith(f"{PACKAGE}.core"):
        return builtins.__import__(name, globals, locals, fromlist or ())
    if top != PACKAGE:
        return _stand_in(top if not fromlist else name)
    if not fromlist:
        raise ImportError(f"import {name}: write `from ... import ...`")
    found = module(name)
    for wanted in fromlist:
        if not hasattr(found, wanted):
            setattr(found, wanted, _submodule(f"{name}.{wanted}"))
    return found


def _submodule(name: str) -> Any:
    return sys.modules[name] if name in sys.modules else module(name)
