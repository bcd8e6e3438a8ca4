"""Singular and plural of English nouns, as far as captions need them: rules, and a table of what follows none.

Both directions give every form that a rule allows, real or not: a form that is no word is in no caption. The package ``inflect``
gives one form where captions have several (cactuses, cacti), and brings further packages; so it is not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

IRREGULAR = {
    "man": "men",
    "foot": "feet",
    "tooth": "teeth",
    "goose": "geese",
    "mouse": "mice",
    "louse": "lice",
    "child": "children",
    "elf": "elves",
    "wife": "wives",
    "life": "lives",
    "quiz": "quizzes",
    "phenomenon": "phenomena",
    "criterion": "criteria",
    "ganglion": "ganglia",
    "taxon": "taxa",
    "corpus": "corpora",
    "octopus": "octopodes",
    "cherub": "cherubim",
    "ox": "oxen",
    "die": "dice",
    "person": "people",
    "penny": "pence",
    "genus": "genera",
    "iris": "irides",
    "staff": "staves",
}
"""Irregular plurals. They also hold for longer words with the same ending: ``woman``, ``dormouse``."""
WHOLE = {"ox", "die", "person", "penny", "genus", "iris", "staff"}
"""Words of `IRREGULAR` that match only as whole words (``fox`` is no ``ox``)."""
ENDINGS = (
    ("y", "ies", 1),
    ("f", "ves", 3),
    ("fe", "ves", 3),
    ("us", "i", 3),
    ("um", "a", 3),
    ("is", "es", 3),
    ("ex", "ices", 3),
    ("ix", "ices", 3),
    ("a", "ae", 3),
    ("eau", "eaux", 2),
)
"""Endings of singulars and of their plurals, beside s and es, and how many letters stand before them at least."""
NO_PLURAL = {
    "shorts",
    "tights",
    "news",
    "goods",
    "arms",
    "customs",
    "clothes",
    "pants",
    "jeans",
    "slacks",
    "spectacles",
    "cosmos",
    "lens",
    "series",
    "species",
    "means",
    "gallows",
    "headquarters",
    "chess",
    "canvas",
    "atlas",
    "christmas",
    "pancreas",
    "always",
}
"""Words in s that have no singular, or one that is another word (``a short man`` wears no shorts)."""


def plurals(word: str) -> Iterator[str]:
    """Yield the possible plurals of a word.

    >>> [w for w in plurals("wolf") if w != "wolfes"], "fungi" in plurals("fungus"), "women" in plurals("woman")
    (['wolfs', 'wolves'], True, True)
    """
    yield from (f"{word}s", f"{word}es")
    yield from _changed(word, ENDINGS)
    yield from _irregular(word, IRREGULAR)


def singulars(word: str) -> Iterator[str]:
    """Yield the possible singulars of a word; none if it is no plural.

    >>> {"goose"} == set(singulars("geese")), "fungus" in singulars("fungi"), "box" in singulars("boxes"), [*singulars("glass")]
    (True, True, True, [])
    """
    yield from _irregular(word, {plural: singular for singular, plural in IRREGULAR.items()})
    if word in NO_PLURAL:
        return
    yield from _changed(word, [(plural, singular, least) for singular, plural, least in ENDINGS])
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        yield word[:-1]
        if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            yield word[:-2]


def _changed(word: str, endings: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    for old, new, least in endings:
        if word.endswith(old) and len(word) >= least + len(old):
            yield word[: -len(old)] + new


def _irregular(word: str, table: dict[str, str]) -> Iterator[str]:
    for old, new in table.items():
        if word == old or (word.endswith(old) and WHOLE.isdisjoint((old, new))):
            yield word.removesuffix(old) + new
