"""Captions in the output of ``seqsearch pool build`` and ``pool show``."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from seqsearch.building.audit import Audited
from seqsearch.building.captioned import Found
from seqsearch.core.text import counted, shortened
from seqsearch.pools.base import Pool, row_offsets

WARNED = 0.5
"""Balanced accuracy of predicting the class from a column alone, above which the output warns of the column."""
SHOWN = 5
"""Classes with leaks that are printed; all are in the file beside the pool."""
LOOKED_AT = 10_000
"""Images of a pool whose captions are counted: evenly over it."""
LONGEST = 100
"""Characters of an example."""


def caption_lines(found: dict[str, Found]) -> list[str]:
    """The captions of each source of a build: counts, audit, omissions and leaks."""
    lines = []
    for source, f in found.items():
        lines += [
            f"captions of {source}: {counted(f.leaks.of_captions, 'text')} of {counted(f.leaks.of_samples, 'image')}"
        ]
        if f.audit:
            lines += ["  accuracy of predicting the class of unseen images from each column alone (docs/captions.md):"]
            lines += [f"  {line}" for line in map(_audit, f.audit)]
        lines += [f"  {line}" for line in (*_left_out(f), *_leaks(f))]
    return lines


def _audit(a: Audited) -> str:
    warned = a.names_class or a.accuracy > WARNED
    text = f"  {a.column}: {a.accuracy:.1%} (chance {a.chance:.1%})"
    held = f", holds the class's name in {a.naming:.0%}" * (a.naming > 0)
    return text + held + ": WARNING, this column alone predicts the class" * warned


def _left_out(f: Found) -> list[str]:
    lines = []
    if f.without_caption:
        lines.append(f"left out: {counted(f.without_caption, 'image')} without a caption")
    if f.without_image:
        lines.append(f"left out: captions of {counted(f.without_image, 'image')} that are not there")
    if f.torn:
        values = "value of what is bound together occurs" if f.torn == 1 else "values of what is bound together occur"
        lines.append(
            f"{f.torn:,} {values} in several classes, or parts of the predefined split: each part of them is by itself"
        )
    return lines


def _leaks(f: Found) -> list[str]:
    k = f.leaks
    if k.level == "keep":
        return ["captions that name their class were not looked for (--leaks keep)"]
    what = "their class's name" if k.level == "full" else "the last word of their class's name"
    lines = [f"{counted(k.captions, 'caption')} dropped that hold {what} (--leaks {k.level})"]
    lines[0] += f", or one of {counted(k.synonyms, 'synonym')}" * bool(k.synonyms)
    lines[0] += f", {counted(k.samples, 'image')} with them, whose captions all do" * bool(k.samples)
    most = sorted(k.classes, key=lambda c: -c["captions"])
    for c in most[:SHOWN]:
        example = shortened(c["examples"][0], LONGEST)
        dropped = f"{counted(c['captions'], 'caption')}, {counted(c['samples'], 'image')}"
        lines.append(f"  {c['group']}/{c['class']}: {dropped}, e.g. {example!r}")
    if len(most) > SHOWN:
        lines.append(f"  ... and {counted(len(most) - SHOWN, 'class')} more")
    if k.nameless:
        lines.append(
            f"{counted(len(k.nameless), 'class')} called by a number, e.g. {k.nameless[0]!r}: captions that name them cannot be "
            "found; give the folders the classes' names"
        )
    return lines


def captions_of(pool: Pool) -> dict[str, Any] | None:
    """Captions of a pool in plain values: shares and counts over `LOOKED_AT` images at most; None if it has none."""
    if not getattr(pool, "captioned", False):
        return None
    read: Any = pool
    total = int(row_offsets(pool.classes)[-1])
    rows = np.unique(np.linspace(0, total - 1, min(total, LOOKED_AT)).astype(np.int64))
    captions: list[list[str]] = read.captions(rows)
    per_image = Counter(len(s) for s in captions)
    words = [len(t.split()) for s in captions for t in s]
    there = rows[[bool(s) for s in captions]]
    few = there[np.linspace(0, len(there) - 1, min(3, len(there))).astype(np.int64)]
    return {
        "looked_at": len(rows),
        "share": len(there) / len(rows),
        "per_image": {str(n): per_image[n] for n in sorted(per_image)},
        "words": [int(q) for q in np.percentile(words, [0, 50, 100])] if words else [],
        "examples": read.texts(few) if len(few) else [],
        "policy": getattr(pool, "policy", "first"),
    }


def shown_captions(record: dict[str, Any]) -> list[str]:
    """The same as text."""
    numbers = sorted(map(int, record["per_image"]))
    each = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    words = record["words"]
    length = f"{words[0]} to {words[2]} words, half of them {words[1]} at most" if words else "no words"
    lines = [
        f"  captions: {record['share']:.1%} of {counted(record['looked_at'], 'image')} looked at have some, {each} an image, "
        f"{length}; what is read is {_POLICIES.get(record['policy'], record['policy'])}"
    ]
    lines += [f"    {shortened(text, LONGEST)}" for text in record["examples"]]
    return lines


_POLICIES = {
    "first": "the first (captions=first)",
    "concat": "all of an image, one after the other (captions=concat)",
    "random": "another one each time in training, the first elsewhere (captions=random)",
}
