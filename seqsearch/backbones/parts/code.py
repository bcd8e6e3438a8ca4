"""Functions of modules and classes, which research code replaces: to find out whether one was, and to put it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn


class Code:
    """The functions of some modules (``torch.nn.functional``) or classes, as they are when this is made."""

    def __init__(self, owners: Iterable[Any]) -> None:
        self._known = [(owner, vars(owner), dict(vars(owner))) for owner in owners]

    def changed(self) -> list[str]:
        """Names of functions that are others now, that are gone, or that are new and hide an inherited one."""
        return [f"{o.__name__}.{name}" for o, now, known in self._known for name in _others(o, now, known)]

    def restore(self) -> None:
        """Put them back."""
        for owner, now, known in self._known:
            for name in _others(owner, now, known):
                if name in known:
                    setattr(owner, name, known[name])
                else:
                    delattr(owner, name)


def classes_of(network: nn.Module) -> list[type]:
    """Of all its submodules, with what they derive from."""
    return list(dict.fromkeys(c for m in network.modules() for c in type(m).__mro__ if c is not object))


def _others(owner: Any, now: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    try:
        if now == known:
            return []
    except Exception:  # of ``==``, which is asked of other objects alone: it may have no single answer
        pass
    bases = getattr(owner, "__mro__", ())[1:]
    new = [n for n, value in now.items() if n not in known and _runs(n, value) and any(n in vars(b) for b in bases)]
    return [n for n, value in known.items() if _runs(n, value) and now.get(n) is not value] + new


def _runs(name: str, value: Any) -> bool:
    """Whether it computes. How instances are made and copied is not looked at: torch changes that of modules when parts of it are
    imported."""
    code = callable(value) or isinstance(value, (staticmethod, classmethod, property))
    return code and (name == "__call__" or not name.startswith("__"))
