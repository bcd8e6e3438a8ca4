"""The papers that a run rests on, as BibTeX: that of its protocol, and those of its methods and learners.

A method names its paper in the second paragraph of its docstring; `references.bib` beside this file has an entry for each.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from protocols.report.table import CLDYB, EDGE, GTEP, MCIL, NEAR_FUTURE
from seqsearch.core.kinds import PACKAGES, ItemKind, names

OF_PROTOCOL = {
    "cldyb": CLDYB, "score": CLDYB, "explain": CLDYB, "duel": CLDYB,
    "edge": EDGE, "edge-plan": EDGE, "gtep": GTEP, "mcil": MCIL, "online": NEAR_FUTURE,
}  # fmt: skip
_ENTRY = re.compile(r"@\w+\{(?P<key>[^,]+),\n  title = \{(?P<title>.+)\},\n(?:.*\n)*?  year = \{(?P<year>\d+)\}")


class Reference(NamedTuple):
    """An entry of a bibliography: the key that a paper cites it by, its title without braces, its year, and its BibTeX."""

    key: str
    title: str
    year: str
    bibtex: str


@cache
def known() -> tuple[Reference, ...]:
    """All entries."""
    entries = Path(__file__).with_suffix(".bib").read_text(encoding="utf-8").strip().split("\n\n")
    return tuple(
        Reference(m["key"], re.sub("[{}]", "", m["title"]), m["year"], entry)
        for entry in entries
        if (m := _ENTRY.match(entry))
    )


def references(config: Mapping[str, Any]) -> list[Reference]:
    """Of a run, from its ``config.json``; custom methods add none."""
    identity = config.get("identity")
    said = [identity.get(key) for key in ("methods", "taken_over")] if isinstance(identity, dict) else []
    labels = [label for methods in said if isinstance(methods, dict) for label in methods]
    protocol = str(config.get("protocol"))
    kind: ItemKind = "learner" if protocol == "online" else "method"
    titles = [OF_PROTOCOL.get(protocol, ""), *titles_of(kind, map(str, labels))]
    return [r for r in known() if _letters(r.title) in set(map(_letters, titles))]


def titles_of(kind: ItemKind, labels: Iterable[str]) -> list[str]:
    """The titles of entries that the docstrings of methods, or of learners, name; a name may be of one of each."""
    found = dict[str, None]()
    for name in dict.fromkeys(re.split("[:@]", label)[0] for label in labels):
        if name in names(kind):
            paragraph = _letters(_second_paragraph(f"{PACKAGES[kind]}.{name}"))
            found |= {r.title: None for r in known() if _letters(r.title) in paragraph}
    return list(found)


@cache
def _second_paragraph(module: str) -> str:
    """Of the docstring of a module, which is not imported."""
    spec = find_spec(module)
    assert spec is not None
    text = ast.get_docstring(ast.parse(Path(str(spec.origin)).read_text(encoding="utf-8"))) or ""
    return "".join(text.split("\n\n")[1:2])


def _letters(text: str) -> str:
    return "".join(re.findall("[a-z0-9]", text.lower()))
