"""The pages of the methods in ``docs/methods``, the table that compares them, and the sections of the learners: from the code.

    python -m tools.method_pages

A test compares what is there with what this writes.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

from protocols.report.commands.methods import (
    describe,
    differing,
    embedded_of,
    own_defaults,
    range_of,
    space_text,
    variant_of,
)
from protocols.report.table import of_words
from seqsearch.core.registry import declared, names
from seqsearch.core.text import counted
from seqsearch.methods.base import DESIGN
from seqsearch.methods.config import SCRATCH, TINY, build_config

DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = (
    "<!-- the table below is written by python -m tools.method_pages -->",
    "<!-- end of the table -->",
)
LEARNERS = (
    "<!-- the sections below are written by python -m tools.method_pages -->",
    "<!-- end of the sections -->",
)
COLUMNS = {
    "exemplar": "exemplars", "statistic": "statistics", "full": "full", "parameter-efficient": "efficient",
    "functional": "functional", "parameter": "parameter", "orthogonality": "orthogonal", "expansion": "expansion",
    "ensemble": "ensemble",
}  # fmt: skip
"""Headings of CLDyB Table 3's columns."""
BACKBONES = {
    "any": "any",
    "vit": "vision transformers of timm",
    "maps": "networks with feature maps behind their stages",
    "pairs": "those of image-text pairs: glyph_flava, flava",
    "names": "those with a text tower: clip",
}
"""Words for what a method can run on (`seqsearch.methods.base.Caps`)."""


def page(name: str) -> str:
    """A method's page as Markdown: its module's documentation, its capabilities and its parameters."""
    m = describe(name)
    first, _, rest = m["documentation"].partition("\n\n")
    lines = [
        f"# {name}",
        "",
        markdown(first),
        "",
        markdown(rest),
        "",
        "## Capabilities",
        "",
        *_capabilities(m["name"], m["caps"]),
    ]
    if m["parameters"]:
        lines += ["", "## Parameters", "", *_parameters(m["parameters"], embedded_of(m["caps"]))]
    return "\n".join(lines).rstrip() + "\n"


def comparison() -> str:
    """All methods and the columns of CLDyB Table 3, as a Markdown table."""
    assert tuple(COLUMNS) == DESIGN
    rows = []
    for name in names("method"):
        m = describe(name)
        caps = m["caps"]
        marks = ["x" if column in caps["design"] else "" for column in COLUMNS]
        rows.append((f"[{name}](methods/{name}.md){variant_of(m)}", *marks, _order(caps["order_invariant_after"])))
    return of_words(("method", *COLUMNS.values(), "order of tasks matters"), rows).markdown()


def _order(fixed: int | None) -> str:
    """Whether the order of tasks matters; ``fixed``: the tasks after which it does not."""
    if fixed is None:
        return "yes"
    return "no" if fixed == 0 else "only of the first" if fixed == 1 else f"only of the first {fixed}"


def learner_sections() -> str:
    """All learners of streams, a section each, as Markdown."""
    return "\n\n".join(_section(name) for name in names("learner"))


def _section(name: str) -> str:
    m = describe(name, "learner")
    first, _, rest = m["documentation"].partition("\n\n")
    reads = {"labels": "labels alone", "frozen": "features of the frozen backbone", "images": "images"}[
        m["caps"]["input"]
    ]
    lines = [f"### {name}", "", markdown(first), "", markdown(rest), "", f"Reads {reads}."]
    if m["parameters"]:
        lines += ["", *_parameters(m["parameters"], embedded_of(m["caps"], "learner"))]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def pages() -> dict[Path, str]:
    """Return the generated content of each page, by file."""
    found = {DOCS / "methods" / f"{name}.md": page(name) for name in names("method")}
    overview = DOCS / "methods.md"
    before, _, rest = overview.read_text().partition(BEGIN)
    found[overview] = f"{before}{BEGIN}\n\n{comparison()}\n\n{END}{rest.partition(END)[2]}"
    learners = DOCS / "learners.md"
    before, _, rest = learners.read_text().partition(LEARNERS[0])
    found[learners] = f"{before}{LEARNERS[0]}\n\n{learner_sections()}\n\n{LEARNERS[1]}{rest.partition(LEARNERS[1])[2]}"
    return found


def main() -> None:
    (DOCS / "methods").mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text)
    for path in set((DOCS / "methods").glob("*.md")) - set(pages()):
        path.unlink()


def markdown(text: str) -> str:
    """reStructuredText of our docstrings as Markdown: only the literals differ."""
    return re.sub(r"``(.+?)``", r"`\1`", text, flags=re.DOTALL)


def _capabilities(name: str, caps: dict[str, Any]) -> list[str]:
    kind = declared("method", name)
    scratch = dataclasses.asdict(kind.capabilities(build_config(kind, {}, f"{SCRATCH}resnet32")))
    reads, order = _reads(caps), _fixed(caps)
    both = caps["pairs"] or (caps["input"] == "frozen" and caps["backbones"] == "any")
    lines = [
        f"- design (CLDyB Table 3): {', '.join(caps['design']) or 'none of the columns'}",
        f"- reads {reads}" + ("; stores training images (as rows)" if caps["needs_exemplars"] else ""),
        f"- the order of the tasks {order}",
        f"- backbones: {BACKBONES[caps['backbones']]}{', also those of image-text pairs' if both else ''}",
    ]
    if (_reads(scratch), _fixed(scratch)) != (reads, order):
        lines.append(f"- from scratch it reads {_reads(scratch)}, and the order of the tasks {_fixed(scratch)}")
    if caps["needs_val"]:
        lines.append("- uses the validation images of a task")
    if caps["capacity"] is not None:
        lines.append(f"- learns at most {caps['capacity']} tasks with its defaults")
    return lines


def _reads(caps: dict[str, Any]) -> str:
    """What a method reads."""
    reads = "features of the frozen backbone only: no image is decoded" if caps["input"] == "frozen" else "images"
    return reads + {"pairs": " and their texts", "names": ", and names of classes"}.get(caps["backbones"], "")


def _fixed(caps: dict[str, Any]) -> str:
    """What the order of the tasks does to a method."""
    fixed = caps["order_invariant_after"]
    after = " after the first task" if fixed == 1 else f" after the first {counted(fixed, 'task')}" if fixed else ""
    return "matters" if fixed is None else f"cannot change the final model{after}"


def _parameters(parameters: list[dict[str, Any]], embedded: str) -> list[str]:
    """A table, with a column for those defaults on other networks that differ from the first; ``embedded`` are some of them."""
    titles = {"embedded": f"on {embedded}", "scratch": "from scratch", "tiny": f"on {TINY}"}
    others = differing(parameters)
    rows = []
    for p in parameters:
        own = [f"`{text}`" if text else "" for text in own_defaults(p, others)]
        tuned = space_text(p["search"]) if p["search"] else ""
        rows.append([f"`{p['name']}`", f"`{p['default']}`", *own, range_of(p), tuned, p["help"]])
    headings = ("parameter", "default", *(titles[kind] for kind in others), "values", "tuned over", "")
    return of_words(headings, rows).markdown().splitlines()


if __name__ == "__main__":
    main()
