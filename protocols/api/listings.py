"""The methods and the pools that there are, as plain records."""

from __future__ import annotations

import inspect
from typing import Any

from protocols.report.commands.methods import describe, methods_json
from seqsearch.core.kinds import spelled
from seqsearch.core.registry import declared, names


def methods(name: str | None = None) -> Any:
    """Describe all methods, or one, as ``seqsearch methods --json`` does.

    Returns:
        A record, or a list of records: ``name``, ``about``, ``caps`` (capabilities) and ``parameters`` with their defaults,
        bounds and search spaces.

    Raises:
        UserError: there is no such method.

    Example:
        >>> import seqsearch as ss
        >>> "M" in {p["name"] for p in ss.methods("ranpac")["parameters"]}
        True
    """
    return methods_json() if name is None else describe(spelled("method", str(name).strip()))


def pools(name: str | None = None) -> Any:
    """Describe all kinds of pools, or one.

    Returns:
        A record, or a list of records: ``name``, ``about`` and ``options``, the defaults of the options by name.

    Raises:
        UserError: there is no such kind.

    Example:
        >>> import seqsearch as ss
        >>> "classes" in ss.pools("glyphs")["options"]
        True
    """
    return [_pool(n) for n in names("pool")] if name is None else _pool(spelled("pool", str(name).strip()))


def _pool(name: str) -> dict[str, Any]:
    build = declared("pool", name)
    options = inspect.signature(build).parameters
    return {
        "name": name,
        "about": (inspect.getdoc(build) or "").partition("\n\n")[0].replace("\n", " "),
        "options": {n: None if p.default is p.empty else p.default for n, p in options.items()},
    }
