"""The methods there are, with their parameters: read from the code, for the terminal and for the docs."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from protocols.report.references import OF_PROTOCOL, known, titles_of
from protocols.report.table import MCIL, NEITHER, OURS, WORDS, Column, Layout, Table, table
from seqsearch.core.limits import plain, range_text
from seqsearch.core.registry import ItemKind, declared, names
from seqsearch.methods.config import EMBEDDED, SCRATCH, TINY, LogUniform, default_of, space_of

PAIRED = "glyph_flava"
"""The embedded backbone that reads image-text pairs. Embedded backbones are those whose weights are shipped with the package."""
NETWORK_KINDS = {
    "embedded": ("embedded", "the embedded backbones"),
    "scratch": ("scratch", "networks from scratch"),
    "tiny": (TINY, "that network, of any size of images"),
}
"""Kinds of networks that may have defaults of their own: the heading of their column, and a description."""

OWN = f"{OURS}, docs/methods.md; a method's page names its paper"
DEFAULT_ON = Column(
    "default_...",
    "...",
    "default on another kind of network, which the line below the table names; empty if it is the same",
    WORDS,
    NEITHER,
    OWN,
)
PARAMETERS = Layout(
    "parameters",
    "Parameters",
    (
        Column("parameter", "parameter"),
        Column("default", "default", "published default of a parameter", WORDS, NEITHER, OWN),
        DEFAULT_ON,
        Column("meaning", ""),
    ),
)
LAYOUTS = (PARAMETERS,)
GROUPS = (
    "On frozen features",
    "Prompts, adapters and other small modules in a frozen network",
    "Training of the whole network, without stored images",
    "Training of the whole network, with stored images",
    "Growing networks, with stored images",
    "Image-text pairs",
)
FACTS = Path(__file__).with_name("method_facts.json")
"""Cost and parity by method, written by ``python -m tools.method_facts``."""
LEGEND = (
    "year: of the paper. needs: beyond images with labels. -: none, or not known.",
    "cost: processor time of training divided by that of fine-tuning, on: a pre-trained ViT, a network from scratch, or pairs.",
    "parity: the public code, or that of the authors, that gives the same scores from the same starts (docs/parity.md).",
    "",
    "All about one, with its parameters: seqsearch methods NAME. Set them as in --methods ranpac:M=500,er.",
    "A custom method: --methods FILE.py:CLASS (docs/custom_method.md).",
)


MEASURED_ON = {"glyph_vit": "ViT", "scratch:tiny-16": "scratch", PAIRED: "pairs"}
"""Backbones that costs are measured on, in words."""


def methods_json() -> list[dict[str, Any]]:
    """One record per method: `describe`, and ``group``, ``year``, ``needs``, ``cost``, ``cost_on`` and ``parity`` as
    `method_table` shows them, None where there is none or it is not known."""
    facts = json.loads(FACTS.read_text())
    return [_overview(describe(name), facts.get(name, {})) for name in names("method")]


def _overview(m: dict[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **m,
        "group": group_of(m["caps"]),
        "year": year_of(m["name"]),
        "needs": needs(m["caps"]),
        "cost": facts.get("cost"),
        "cost_on": MEASURED_ON.get(facts.get("backbone", "")),
        "parity": facts.get("parity"),
    }


def describe(name: str, kind: ItemKind = "method") -> dict[str, Any]:
    """Describe a method, or a learner of streams (``kind``), as plain values.

    Returns:
        ``name``, ``variant``, ``about``, ``documentation``, ``caps`` (capabilities) and ``parameters``. A parameter has ``name``,
        ``help``, ``minimum``, ``maximum`` and ``choices``; its ``default`` and ``search`` space; and those on other networks:
        ``embedded`` and ``embedded_search`` on embedded backbones, ``scratch`` on networks from scratch (no search space of their
        own), ``tiny`` and ``tiny_search`` on the network `TINY`.
    """
    method = declared(kind, name)
    parameters = [
        {
            "name": f.name,
            **{k: f.metadata.get(k) for k in ("help", "minimum", "maximum", "choices")},
            "default": f.default,
            "search": _space(space_of(f, "")),
            "embedded": default_of(f, EMBEDDED[0]),
            "embedded_search": _space(space_of(f, EMBEDDED[0])),
            "scratch": default_of(f, SCRATCH),
            "tiny": default_of(f, TINY),
            "tiny_search": _space(space_of(f, TINY)),
        }
        for f in dataclasses.fields(method.Config)
    ]
    documentation = inspect.getdoc(inspect.getmodule(method)) or inspect.getdoc(method) or ""
    return {
        "name": name,
        "variant": getattr(method, "variant", ""),
        "about": " ".join(documentation.split("\n\n")[0].split()),
        "documentation": documentation,
        "caps": dataclasses.asdict(method.capabilities(method.Config())),
        "parameters": parameters,
    }


def method_table() -> str:
    """All methods as plain text, a line each, in groups."""
    found, columns, lines = methods_json(), ("method", "year", "needs", "cost", "on", "parity", "idea"), list[str]()
    rows = {m["name"]: _row(m) for m in found}
    widths = [max(map(len, column)) for column in zip(columns, *rows.values(), strict=True)][:-1]
    for title in GROUPS:
        own = sorted((m for m in found if m["group"] == title), key=lambda m: (rows[m["name"]][1], m["name"]))
        if own:
            lines += [title, *("  " + _aligned(row, widths) for row in (columns, *(rows[m["name"]] for m in own))), ""]
    return "\n".join([*lines, *LEGEND])


def group_of(caps: Mapping[str, Any]) -> str:
    """The group of a method with these capabilities, of `GROUPS`."""
    if caps["backbones"] == "pairs":
        return GROUPS[5]
    if not caps["trains_backbone"]:
        return GROUPS[0]
    if caps["needs_exemplars"]:
        return GROUPS[4] if "expansion" in caps["design"] else GROUPS[3]
    return GROUPS[1] if "full" not in caps["design"] else GROUPS[2]


def _row(m: Mapping[str, Any]) -> tuple[str, ...]:
    cost = "-" if m["cost"] is None else f"{m['cost']:.2g}"
    return (
        m["name"],
        *(m[key] or "-" for key in ("year", "needs")),
        cost,
        m["cost_on"] or "-",
        m["parity"] or "-",
        _idea(m),
    )


def needs(caps: Mapping[str, Any]) -> str | None:
    """What a method with these capabilities needs beyond images with labels; None for nothing."""
    backbone = {"vit": "ViT", "maps": "feature maps", "pairs": "texts", "names": "class names"}.get(
        caps["backbones"], ""
    )
    return ", ".join(filter(None, (backbone, "exemplars" if caps["needs_exemplars"] else ""))) or None


def year_of(name: str) -> str | None:
    """The year of the paper that a method's docstring names; None for baselines of a protocol's paper."""
    baselines = {title for title in OF_PROTOCOL.values() if title != MCIL}
    titles = set(titles_of("method", [name])) - baselines
    return next((r.year for r in known() if r.title in titles), None)


def _idea(m: Mapping[str, Any]) -> str:
    # Documentation begins with "NAME: text"; only the text is shown.
    return f"{m['about'].partition(': ')[2] or m['about']}{variant_of(dict(m))}"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)), cells[-1]])


def variant_of(m: dict[str, Any]) -> str:
    """The remark behind a method's name or description; may be empty."""
    return f" ({m['variant']})" if m["variant"] else ""


def parameters(m: dict[str, Any]) -> Table:
    """The table of the parameters of a method (`describe`), with a column for each kind of network that has another default."""
    kinds = differing(m["parameters"])
    columns = [DEFAULT_ON.named(_title(kind), kind) for kind in kinds]
    words = {
        kind: embedded_of(m["caps"]) if kind == "embedded" else about for kind, (_, about) in NETWORK_KINDS.items()
    }
    on = "; ".join(f"{_title(kind)}: on {words[kind]}" for kind in kinds)
    return table(
        PARAMETERS,
        f"{on}. An empty cell is the default." if on else "",
        [(p["name"], str(p["default"]), *own_defaults(p, kinds), _meaning(p)) for p in m["parameters"]],
        (*PARAMETERS.columns[:2], *columns, PARAMETERS.columns[-1]),
    )


def own_defaults(parameter: dict[str, Any], kinds: Sequence[str]) -> list[str]:
    """The default on each of these kinds of networks; empty if it is the published one."""
    return [str(parameter[kind]) if parameter[kind] != parameter["default"] else "" for kind in kinds]


def embedded_of(caps: Mapping[str, Any], kind: ItemKind = "method") -> str:
    """The embedded backbones that a method, or a learner of streams, with these capabilities can have, as a text.

    A method that reads pairs, or that takes frozen features, can have all of them. Others can have `PAIRED` alone if they need a
    backbone of pairs, and the others if they do not.
    """
    paired = caps["backbones"] == "pairs"
    reads_both = kind == "method" and (caps["pairs"] or caps["input"] == "frozen")
    found = [name for name in EMBEDDED if reads_both or paired == (name == PAIRED)]
    return " and ".join(filter(None, (", ".join(found[:-1]), found[-1])))


def differing(parameters: list[dict[str, Any]]) -> list[str]:
    """The kinds of networks (keys of `NETWORK_KINDS`) on which some parameter has another default than the published one."""
    return [kind for kind in NETWORK_KINDS if any(p[kind] != p["default"] for p in parameters)]


def _title(kind: str) -> str:
    return NETWORK_KINDS[kind][0]


def _meaning(p: dict[str, Any]) -> str:
    """The meaning of a parameter, its bounds and its search space."""
    limits = f" ({range_of(p)})" if range_of(p) else ""
    others: dict[str, list[str]] = {}
    for kind, (title, _) in NETWORK_KINDS.items():
        space = p.get(f"{kind}_search", p["search"])
        if space and space != p["search"]:
            others.setdefault(space_text(space), []).append(title)
    also = "; ".join(f"{', '.join(titles)}: {space}" for space, titles in others.items())
    tuned = "nothing" if also else ""
    if p["search"]:
        tuned = space_text(p["search"])
    return f"{p['help']}{limits}{f'; tuned over {tuned}' if tuned else ''}{f' [{also}]' if also else ''}"


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
