"""The methods there are, with their parameters: read from the code, for the terminal and for the docs."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from seqsearch.core.bounds import plain, range_text
from seqsearch.core.registry import load, names
from seqsearch.methods.config import EMBEDDED, SCRATCH, TINY, LogUniform, default_of, space_of


def methods_json() -> list[dict[str, Any]]:
    """One record per method, see `describe`."""
    return [describe(name) for name in names("method")]


def describe(name: str) -> dict[str, Any]:
    """What a method is: name, variant, about, documentation, capabilities, parameters (name, help, bounds, choices; default and
    search space, also those on embedded backbones and on networks from scratch)."""
    method = load("method", name)
    parameters = [
        {
            "name": f.name, **{k: f.metadata.get(k) for k in ("help", "minimum", "maximum", "choices")},
            "default": f.default, "search": _space(space_of(f, "")),
            "embedded": default_of(f, EMBEDDED[0]), "embedded_search": _space(space_of(f, EMBEDDED[0])),
            "scratch": default_of(f, SCRATCH), "tiny": default_of(f, TINY), "tiny_search": _space(space_of(f, TINY)),
        }
        for f in dataclasses.fields(method.Config)
    ]  # fmt: skip
    documentation = inspect.getdoc(inspect.getmodule(method)) or inspect.getdoc(method) or ""
    return {
        "name": name,
        "variant": method.variant,
        "about": " ".join(documentation.split("\n\n")[0].split()),
        "documentation": documentation,
        "caps": dataclasses.asdict(method.capabilities(method.Config())),
        "parameters": parameters,
    }


def method_table() -> str:
    """All methods as plain text, a line each."""
    found = methods_json()
    width = max(len(m["name"]) for m in found)
    lines = [f"{m['name']:{width}}  {m['about'].partition(': ')[2] or m['about']}{variant_of(m)}" for m in found]
    return "\n".join(
        [*lines, "", "All about one, with its parameters: seqsearch methods NAME. Set them as in --methods ranpac:M=500,er.",
         "An own method: --methods FILE.py:CLASS (docs/methods.md)."]
    )  # fmt: skip


def variant_of(m: dict[str, Any]) -> str:
    """What is to be said behind a method's name or description, if anything."""
    return f" ({m['variant']})" if m["variant"] else ""


def method_text(name: str) -> str:
    """One method as plain text, with its documentation.

    Raises:
        UserError: there is no such method.
    """
    m = describe(name)
    parameters = [_parameter(p) for p in m["parameters"]] or ["    none"]
    return (
        f"{m['documentation']}\n\nParameters ([]: on the embedded backbones, {' and '.join(EMBEDDED)}):\n"
        + "\n".join(parameters)
    )


def _parameter(p: dict[str, Any]) -> str:
    also = f" [{p['embedded']}]" if p["embedded"] != p["default"] else ""
    limits = f" ({range_of(p)})" if range_of(p) else ""
    tuned = f"; tuned over {space_text(p['search'])}" if p["search"] else ""
    if p["embedded_search"] != p["search"]:
        tuned += f" [{space_text(p['embedded_search'])}]"
    return f"    {p['name']}={p['default']}{also}  {p['help']}{limits}{tuned}"


def _space(search: Any) -> Any:
    """A search space in plain values."""
    return dataclasses.asdict(search) if isinstance(search, LogUniform) else search


def space_text(search: Any) -> str:
    """A search space in words."""
    return f"{search['low']:g} to {search['high']:g}" if isinstance(search, dict) else ", ".join(map(str, search))


def range_of(p: dict[str, Any]) -> str:
    """The values that a parameter may have, in words."""
    if p.get("choices"):
        return ", ".join(map(str, p["choices"]))
    low, high = p.get("minimum"), p.get("maximum")
    if low is not None and high is not None:
        return f"{plain(low)} to {plain(high)}"
    return range_text(low, high) if low is not None or high is not None else ""
