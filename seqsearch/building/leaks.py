"""Captions that name their class ("Multimodal class-incremental learning benchmark": such samples are removed; how is not said).

A caption leaks if the class's name stands in it as whole words, whatever the case, accents and punctuation, the last word
perhaps in the plural. Captions are judged one by one: an image is dropped when none of its captions is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.writing import strings
from seqsearch.pools.base import ClassInfo, row_offsets

Level = Literal["full", "head", "keep"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""The whole name, its last word (the ``albatross`` of a kind of albatross), or nothing is looked for."""
EXAMPLES = 3
"""Captions of a class that are shown."""
_NO_NAME = re.compile(r"(class |label |category )?[\d ]*")
"""Names that stand for numbers: nobody writes them into a caption."""


@dataclass
class Leaks:
    """What a filter took out.

    Attributes:
        captions: dropped, of ``of_captions``; ``samples`` of ``of_samples`` (images that had a caption).
        classes: group, class, captions and samples dropped, examples; of those with any.
        nameless: classes whose names are numbers: nothing can be looked for.
    """

    level: str
    captions: int = 0
    of_captions: int = 0
    samples: int = 0
    of_samples: int = 0
    classes: list[dict[str, Any]] = field(default_factory=list)
    nameless: list[str] = field(default_factory=list)


def without_leaks(
    classes: Sequence[ClassInfo], texts: Sequence[list[str]], level: str
) -> tuple[list[list[str]], Leaks]:
    """The captions of each image ``[n]`` (rows of ``classes``) without those that name its class, and what was dropped."""
    kept, report = list(texts), Leaks(level)
    offsets = row_offsets(classes)
    for index, info in enumerate(classes):
        rows = range(int(offsets[index]), int(offsets[index + 1]))
        flat = [t for row in rows for t in texts[row]]
        report.of_captions += len(flat)
        report.of_samples += sum(bool(texts[row]) for row in rows)
        if level == "keep":
            continue
        if _NO_NAME.fullmatch(_plain([info.name])[0]):
            report.nameless.append(info.name)
        found = leaking(flat, info.name, level)
        if not found.any():
            continue
        marks, samples = iter(found.tolist()), 0
        for row in rows:
            own = [t for t in texts[row] if not next(marks)]
            samples += bool(texts[row]) and not own
            kept[row] = own
        examples = [flat[i] for i in np.flatnonzero(found)[:EXAMPLES].tolist()]
        captions = int(found.sum())
        of_class = {"group": info.group, "class": info.name, "captions": captions, "samples": samples}
        report.classes.append({**of_class, "examples": examples})
        report.captions, report.samples = report.captions + captions, report.samples + samples
    return kept, report


def leaking(captions: Sequence[str], name: str, level: str = "full") -> NDArray[np.bool_]:
    """Whether each caption ``[n]`` holds the name of the class (``full``), or its last word (``head``)."""
    import pyarrow.compute as pc

    forms = [form for form in _forms(name) if form]
    if level == "keep" or not forms or not captions:
        return np.zeros(len(captions), dtype=bool)
    wanted = "|".join(_with_plurals(form.rpartition(" ")[2] if level == "head" else form) for form in forms)
    found = pc.match_substring_regex(normalised(captions), pattern=f"(^| )({wanted})( |$)")
    return np.array(found.to_pylist(), dtype=bool)


def normalised(texts: Sequence[str]) -> Any:
    """Texts as they are compared: no case, no accents (NFKD), and one blank for whatever is neither letter nor digit.

    >>> normalised(["Black-footed  Albatross's caf\u00e9"]).to_pylist()
    ['black footed albatross s cafe']
    """
    import pyarrow.compute as pc

    lower = pc.utf8_lower(pc.utf8_normalize(strings(texts), form="NFKD"))
    bare = pc.replace_substring_regex(pc.utf8_normalize(lower, form="NFKD"), pattern=r"\p{M}+", replacement="")
    return pc.utf8_trim(pc.replace_substring_regex(bare, pattern=r"[^\p{L}\p{N}]+", replacement=" "), characters=" ")


def _plain(names: Sequence[str]) -> list[str]:
    found: list[str] = normalised(names).to_pylist()
    return found


def _forms(name: str) -> list[str]:
    """The name without numbers before it (``001.``); where a number is glued to a word, with and without it."""
    words = _plain([name])[0].split()
    while len(words) > 1 and words[0].isdigit():
        words = words[1:]
    whole = " ".join(words)
    if _NO_NAME.fullmatch(whole):
        return []
    glued = whole.lstrip("0123456789")
    return [whole] if glued == whole else [whole, glued.strip()]


def _with_plurals(words: str) -> str:
    """A pattern of these words, the last of them in the singular or the plural."""
    ies = f"|{words[:-1]}ies" if words.endswith("y") else ""
    return f"{words}(?:s|es)?{ies}"
