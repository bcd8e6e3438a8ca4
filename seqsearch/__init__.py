"""Parallel search for adversarial task sequences in continual learning.

    import seqsearch as ss

    run = ss.cldyb(methods="ranpac,er", pool="glyphs:classes=100", tasks=5, out="runs/mine")
    run.summary                       # headline, tables, notes
    run.df("results")                 # a data frame
    run.matrix("er")                  # accuracies [T, T]
    ss.resume("runs/mine", workers=8) # after an interruption

Each function is a command of the command line; its keywords are the settings' names. The names below come from `protocols.api`,
a higher layer, which is imported when one of them is used. This file alone may import upwards.
"""

import importlib
import random
import sys
from types import ModuleType
from typing import Any

from seqsearch.core.installation import check_together, warn_of_hidden

warn_of_hidden()

_COMMANDS = "assess cldyb cost compare duel edge explain gtep mcil online open resume runs runs_df score"
_NAMES = {
    **dict.fromkeys(_COMMANDS.split(), "protocols.api.commands"),
    "Callback": "protocols.api.callbacks",
    "Interrupted": "protocols.api.calls",
    "Run": "protocols.api.run",
    "TrainingResult": "protocols.api.callbacks",
    "UserError": "seqsearch.core.errors",
}
_LISTED = ("methods", "pools")
__all__ = [*sorted(_NAMES), *_LISTED]


class _Listed(ModuleType):
    """A package that lists its items when it is called: ``seqsearch.methods()``."""

    def __call__(self, name: str | None = None) -> Any:
        listing = importlib.import_module("protocols.api.listings")
        return getattr(listing, self.__name__.rpartition(".")[2])(name)


class _Seqsearch(ModuleType):
    """This package, in which ``methods`` and ``pools`` are functions as well as packages."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _LISTED and isinstance(value, ModuleType):
            value.__class__ = _Listed
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Seqsearch


def __getattr__(name: str) -> Any:
    if name in _LISTED:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_together()
    generator = random.getstate()  # libraries draw from it while they are imported
    try:
        return getattr(importlib.import_module(_NAMES[name]), name)
    finally:
        random.setstate(generator)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
