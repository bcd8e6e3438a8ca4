"""The methods there are, with their parameters: read from the code, for the terminal and for the docs."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from seqsearch.load import load, names
from seqsearch.methods.base import LogUniform


def methods_json() -> list[dict[str, Any]]:
    """One record per method: name, what it is, capabilities, parameters (name, default, help, bounds)."""
    return [_describe(name) for name in names("method")]


def _describe(name: str) -> dict[str, Any]:
    method = load("method", name)
    parameters = [
        {"name": f.name, "default": f.default, **f.metadata, "search": _space(f.metadata.get("search"))}
        for f in dataclasses.fields(method.Config)
    ]
    about = (inspect.getdoc(inspect.getmodule(method)) or inspect.getdoc(method) or "").split("\n\n")[0]
    return {
        "name": name,
        "about": " ".join(about.split()),
        "caps": dataclasses.asdict(method.capabilities(method.Config())),
        "parameters": parameters,
    }


def method_table() -> str:
    """All methods as plain text."""
    blocks = []
    for m in methods_json():
        lines = [f"{m['name']}\n  {m['about']}"]
        for p in m["parameters"]:
            bounds = (
                ", ".join(map(str, p["choices"])) if p.get("choices") else _bounds(p.get("minimum"), p.get("maximum"))
            )
            tuned = f"; tuned over {_range(p['search'])}" if p["search"] else ""
            lines.append(f"    {p['name']}={p['default']}  {p['help']}" + (f" ({bounds})" if bounds else "") + tuned)
        blocks.append("\n".join(lines))
    return (
        "\n\n".join(blocks)
        + "\n\nParameters are set as in --methods ranpac:M=500,er. An own method: --methods FILE.py:CLASS."
    )


def _space(search: Any) -> Any:
    """A search space in plain values."""
    return dataclasses.asdict(search) if isinstance(search, LogUniform) else search


def _range(search: Any) -> str:
    return f"{search['low']:g} to {search['high']:g}" if isinstance(search, dict) else ", ".join(map(str, search))


def _bounds(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    return f"at least {low:g}" if low is not None else f"at most {high:g}" if high is not None else ""
