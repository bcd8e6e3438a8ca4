"""Captions that name their class ("Multimodal class-incremental learning benchmark": such samples are removed; how is not said).

A caption leaks if the class's name, or a synonym of it, stands in it as whole words, whatever the case, accents, umlauts,
invisible characters and punctuation, a word perhaps in the possessive, two of them perhaps written as one, the last in the other
grammatical number (singular or plural). Captions are evaluated one by one: an image is dropped when none of its captions is left.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.number import plurals, singulars
from seqsearch.building.writing import strings
from seqsearch.core.errors import UserError
from seqsearch.core.text import did_you_mean
from seqsearch.core.typed import brief
from seqsearch.pools.base import ClassInfo, Rows, row_offsets
from seqsearch.storage.reading import content, parsed

Level = Literal["full", "head", "keep"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""What is looked for: the whole name (``full``); also its last word, the head noun, such as ``albatross`` in ``black-footed
albatross`` (``head``); or nothing (``keep``)."""
EXAMPLES = 3
"""Removed captions of a class that are reported, at most."""
BATCH = 50_000
"""Captions that are compared in one call, about."""
BETWEEN = "(?: ?s)? ?"
"""Pattern of the text between two words of a name: ``brewer s blackbird`` is a brewer blackbird, and ``blackfooted`` is
black footed."""
SPELLING_SEPARATOR = " \n "
"""Stands between the spellings of one text; no name spans it."""
LETTERS = {
    "ß": "ss",
    "æ": "ae",
    "œ": "oe",
    "ø": "o",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ł": "l",
    "\u0131": "i",
    "ŧ": "t",
    "ħ": "h",
}
"""Letters that are no plain letter with an accent, and how they are written in plain letters."""
WRITTEN_OUT = (("([aou])\u0308", r"\1e"), ("a\u030a", "aa"), ("ø", "oe"))
"""Umlauts and other letters (as patterns of decomposed text), and their spelling without accents: ``M\u00fcller``,
``Mueller``."""
_SPELT = f"\\p{{Cf}}|{'|'.join(pattern for pattern, _ in WRITTEN_OUT)}"
"""Pattern of characters of a text that have another spelling."""
_NO_NAME = re.compile(r"(class |label |category )?[\d ]*")
"""Names that stand for numbers: nobody writes them into a caption."""
LARGEST = 16 << 20
"""Bytes of a file of synonyms, at most."""
LONGEST = 200
"""Characters of a synonym, at most."""
LAYOUT = 'write {"class name": ["other name", ...], ...}'
"""How to write a file of synonyms, for messages."""


@dataclass
class Leaks:
    """Captions and images that a filter removed.

    Attributes:
        captions: dropped, of ``of_captions``; ``samples`` of ``of_samples`` (images that had a caption).
        classes: group, class, captions and samples dropped, examples; of classes with any.
        nameless: classes whose names are numbers: nothing can be looked for.
        synonyms: further names that were looked for.
    """

    level: str
    captions: int = 0
    of_captions: int = 0
    samples: int = 0
    of_samples: int = 0
    classes: list[dict[str, Any]] = field(default_factory=list)
    nameless: list[str] = field(default_factory=list)
    synonyms: int = 0


def without_leaks(
    classes: Sequence[ClassInfo],
    texts: Sequence[list[str]],
    level: str,
    synonyms: Mapping[tuple[str, str], Sequence[str]] | None = None,
) -> tuple[list[list[str]], Leaks]:
    """The captions of each image ``[n]`` (rows of ``classes``) without those that name its class, and what was dropped.

    ``synonyms``: other names of classes, by group and name.
    """
    kept, report, others = list(texts), Leaks(level, synonyms=sum(map(len, (synonyms or {}).values()))), synonyms or {}
    offsets, forms = row_offsets(classes), forms_of([c.name for c in classes])
    for own, c in zip(forms, classes, strict=True):  # adds the synonyms to the lists in ``forms``
        own += itertools.chain.from_iterable(forms_of(others.get((c.group, c.name), ())))
    for low, high in _batches(texts, offsets):
        flat = [t for row in range(int(offsets[low]), int(offsets[high])) for t in texts[row]]
        normal, start = spelt(flat), 0
        for index in range(low, high):
            rows = range(int(offsets[index]), int(offsets[index + 1]))
            own = flat[start : start + sum(len(texts[row]) for row in rows)]
            found = holding(normal.slice(start, len(own)), forms[index], level)
            start += len(own)
            _drop(classes[index], rows, own, found, kept, report)
            if level != "keep" and not forms[index]:
                report.nameless.append(classes[index].name)
    return kept, report


def _batches(texts: Sequence[list[str]], offsets: Rows) -> list[tuple[int, int]]:
    """Ranges of classes that have some `BATCH` captions together. Each call has an overhead, and one call for all takes much
    memory."""
    ends, count = [0], 0
    for index in range(len(offsets) - 1):
        count += sum(len(texts[row]) for row in range(int(offsets[index]), int(offsets[index + 1])))
        if count >= BATCH:
            ends.append(index + 1)
            count = 0
    if ends[-1] < len(offsets) - 1:
        ends.append(len(offsets) - 1)
    return list(itertools.pairwise(ends))


def _drop(
    info: ClassInfo, rows: range, own: list[str], found: NDArray[np.bool_], kept: list[list[str]], report: Leaks
) -> None:
    """Take the captions of a class that were ``found`` [of ``own``, row by row] out of ``kept``, and count them."""
    report.of_captions += len(own)
    report.of_samples += sum(bool(kept[row]) for row in rows)
    if not found.any():
        return
    marks, samples = iter(found.tolist()), 0
    for row in rows:
        there = len(kept[row])
        kept[row] = [t for t in kept[row] if not next(marks)]
        samples += there > 0 and not kept[row]
    captions, examples = int(found.sum()), [own[i] for i in np.flatnonzero(found)[:EXAMPLES].tolist()]
    of_class = {"group": info.group, "class": info.name, "captions": captions, "samples": samples}
    report.classes.append({**of_class, "examples": examples})
    report.captions, report.samples = report.captions + captions, report.samples + samples


def leaking(captions: Sequence[str], name: str, level: str = "full") -> NDArray[np.bool_]:
    """Whether each caption ``[n]`` holds the name of the class (``full``), or that or its last word (``head``)."""
    return holding(spelt(captions), forms_of([name])[0], level)


def holding(normal: Any, forms: Sequence[str], level: str = "full") -> NDArray[np.bool_]:
    """`leaking`, for captions that are already `spelt` and the `forms_of` the name."""
    import pyarrow.compute as pc

    if level == "keep" or not forms or not len(normal):
        return np.zeros(len(normal), dtype=bool)
    all_forms = [*forms, *(_words(form)[-1] for form in forms)] if level == "head" else forms
    wanted = "|".join(map(_pattern, dict.fromkeys(all_forms)))
    return np.array(pc.match_substring_regex(normal, pattern=f"(^| )({wanted})( |$)").to_pylist(), dtype=bool)


def spelt(texts: Sequence[str]) -> Any:
    """Texts `normalised`. A text with several spellings becomes all of them, with `SPELLING_SEPARATOR` between them: umlauts
    written out, and blanks where invisible format characters are.

    >>> spelt(["M\u00fcller", "alba\u200btross"]).to_pylist()
    ['muller \\n mueller', 'albatross \\n alba tross']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found = normalised(texts)
    lower = _decomposed(texts)
    odd = np.flatnonzero(pc.match_substring_regex(lower, pattern=_SPELT).to_numpy(zero_copy_only=False))
    if not len(odd):
        return found
    as_is = written_out = lower.take(odd)
    for pattern, replacement in WRITTEN_OUT:
        written_out = pc.replace_substring_regex(written_out, pattern=pattern, replacement=replacement)
    spellings = [_bare(_without_invisible(text, instead)) for text in (as_is, written_out) for instead in ("", " ")]
    columns = zip(*(s.to_pylist() for s in spellings), strict=True)
    joined = {row: SPELLING_SEPARATOR.join(dict.fromkeys(own)) for row, own in zip(odd.tolist(), columns, strict=True)}
    return pa.array([joined.get(row, text) for row, text in enumerate(found.to_pylist())], found.type)


def normalised(texts: Sequence[str]) -> Any:
    """Texts as they are compared: no case, no accents (NFKD), no format characters, and one blank for whatever is neither letter
    nor digit.

    >>> normalised(["Black-footed  Albatross's caf\u00e9"]).to_pylist()
    ['black footed albatross s cafe']
    """
    return _bare(_without_invisible(_decomposed(texts), ""))


def _decomposed(texts: Sequence[str]) -> Any:
    """Texts in small letters, with accents as separate characters."""
    import pyarrow.compute as pc

    return pc.utf8_normalize(pc.utf8_lower(pc.utf8_normalize(strings(texts), form="NFKD")), form="NFKD")


def _without_invisible(texts: Any, instead: str) -> Any:
    """Texts in which ``instead`` replaces invisible characters (joiners, soft hyphens, marks of direction)."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, pattern=r"\p{Cf}+", replacement=instead)


def _bare(texts: Any) -> Any:
    """Letters and digits alone, with a blank between words."""
    import pyarrow.compute as pc

    for letter, replacement in LETTERS.items():
        texts = pc.replace_substring(texts, pattern=letter, replacement=replacement)
    bare = pc.replace_substring_regex(pc.utf8_normalize(texts, form="NFKD"), pattern=r"\p{M}+", replacement="")
    return pc.utf8_trim(pc.replace_substring_regex(bare, pattern=r"[^\p{L}\p{N}]+", replacement=" "), characters=" ")


def forms_of(names: Sequence[str]) -> list[list[str]]:
    """Each name as it may stand in a caption: without numbers before it (``001.``), and where a number is glued to a word, with
    and without it. None of a name that is a number."""
    spellings = [name.split(SPELLING_SEPARATOR) for name in spelt(names).to_pylist()]
    return [list(dict.fromkeys(form for text in own for form in _forms(text.split()))) for own in spellings]


def _forms(words: list[str]) -> list[str]:
    while len(words) > 1 and words[0].isdigit():
        words = words[1:]
    whole = " ".join(words)
    if _NO_NAME.fullmatch(whole):
        return []
    glued = whole.lstrip("0123456789").strip()
    return [form for form in dict.fromkeys((whole, glued)) if form]


def _words(form: str) -> list[str]:
    """Without the ``s`` that the apostrophe of a possessive leaves."""
    return [w for w in form.split() if w != "s"] or form.split()


def _pattern(form: str) -> str:
    """A pattern of a name's words: each may be in the possessive, two may be written as one, and the last, as well as one before
    ``of`` (``birds of paradise``), may be in the other grammatical number."""
    words = _words(form)
    nouns = [i + 1 == len(words) or words[i + 1] == "of" for i in range(len(words))]
    return (
        BETWEEN.join(_singular_and_plural(w) if noun else w for w, noun in zip(words, nouns, strict=True)) + "(?: ?s)?"
    )


def _singular_and_plural(word: str) -> str:
    """A pattern of the singular and the plural of a word, which may be either."""
    found = dict.fromkeys((word, *plurals(word), *singulars(word)))
    return f"(?:{'|'.join(found)})"


def read_synonyms(path: Path, classes: Sequence[ClassInfo]) -> dict[tuple[str, str], list[str]]:
    """Other names by group and name of the class; the file names a class by its name, in whatever groups, or ``group/name``.

    Raises:
        UserError: no such file, another layout, a class that is not there, or a name that has no word.
    """
    try:
        said = parsed(content(path, LARGEST), unique=True)
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else " ".join(str(error).split())[:120]
        raise UserError(f"--synonyms {path} cannot be read ({why}): {LAYOUT}") from None
    if not isinstance(said, dict):
        raise UserError(f"--synonyms {path} holds no JSON object: {LAYOUT}")
    found: dict[tuple[str, str], list[str]] = {}
    for name, others in said.items():
        meant = [c for c in classes if name in (c.name, f"{c.group}/{c.name}")]
        if not meant:
            near = did_you_mean(name, sorted({c.name for c in classes}))
            raise UserError(f"--synonyms {path}: there is no class {brief(name)}; {near}{LAYOUT}")
        _check(path, name, others)
        for c in meant:
            found.setdefault((c.group, c.name), []).extend(others)
    return found


def _check(path: Path, name: str, others: Any) -> None:
    """Raises UserError: other names of a class are no list of names."""
    if not isinstance(others, list) or not others:
        raise UserError(f"--synonyms {path}: {brief(name)} has no list of names: {LAYOUT}")
    for other in others:
        if not isinstance(other, str) or len(other) > LONGEST or not other.isprintable():
            raise UserError(
                f"--synonyms {path}: {brief(name)}: {brief(other)} is no name of at most {LONGEST} characters"
            )
        if not forms_of([other])[0]:
            raise UserError(f"--synonyms {path}: {brief(name)}: {brief(other)} has no word to look for: leave it out")
