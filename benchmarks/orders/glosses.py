"""Similarity of class names by dictionary definitions, and how well it and their spelling agree with groups of classes.

    python -m benchmarks.orders.glosses [--write]

timm ships the lemmas and definitions of ImageNet's 21,844 synsets, which are WordNet's. They are the texts of a latent
semantic analysis: TF-IDF of words (sublinear term frequency, English stop words left out, words of one synset alone
left out), the first `DIMENSIONS` right singular vectors, cosines. So two names are alike where the words of their
definitions keep the same company.

The text of a class is its name and the lemmas and definitions of its synsets: that of its ImageNet number, or all those
that have the longest possible end of the name ("Black footed albatross", "footed albatross", "albatross") as a lemma.
Senses are not distinguished.

The figure is the area under the ROC curve; 0.5 is chance. It is the share of (pair of one group, pair of two groups) in
which the first pair is more similar. Groups are the superclasses of CIFAR-100, and animals, artefacts, foods and the
rest of ImageNet-R and -A. The figure measures agreement with groups that people made, not with confusions of a network.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import write_result
from seqsearch.similarity.names import from_names

Matrix = NDArray[np.float64]
DIMENSIONS = 50
"""Of the dictionary's space: CIFAR-100's superclasses are known best by 100 of them, ImageNet's parts by 25."""
TRIED = (25, 50, 100, 200)
LISTS = Path(__file__).parent / "class_lists"
PARTS = ((2_670_000, "animal"), (4_620_000, "artefact"), (7_500_000, "other"), (8_000_000, "food"), (10**9, "other"))
"""WordNet 3.0 numbers its synsets part by part; the first number beyond each."""


@dataclass(frozen=True)
class Named:
    """A class: its name in the data set, how to read it, its group (empty: none)."""

    name: str
    reads: str
    group: str


@cache
def _table(file: str) -> dict[str, str]:
    """Of timm, which is not imported for it: a line each, the number of a synset, a tab, a text."""
    lines = Path(str(distribution("timm").locate_file(f"timm/data/_info/{file}"))).read_text().splitlines()
    return {line.partition("\t")[0]: line.partition("\t")[2] for line in lines if line}


def lemmas() -> dict[str, str]:
    """By number of the synset, comma-separated."""
    return _table("imagenet_synset_to_lemma.txt")


def definitions() -> dict[str, str]:
    """By number of the synset."""
    return _table("imagenet_synset_to_definition.txt")


def classes(data_set: str) -> tuple[Named, ...]:
    """Those of ``cifar100``, ``cub200``, ``imagenet-r`` or ``imagenet-a``, in the data set's own order."""
    if data_set == "cifar100":
        lines = [line.partition(": ") for line in (LISTS / "cifar100.txt").read_text().splitlines()]
        return tuple(sorted((Named(c, "", g) for g, _, cs in lines for c in cs.split(", ")), key=lambda c: c.name))
    if data_set == "cub200":
        return tuple(Named(name, "", "") for name in (LISTS / "cub200.txt").read_text().splitlines())
    ids = _table(f"{data_set.replace('-', '_')}_synsets.txt")
    return tuple(Named(wnid, lemmas()[wnid], "") for wnid in ids)


@cache
def _senses() -> dict[str, list[str]]:
    """Synsets by lemma, in small letters, hyphens as spaces."""
    found: dict[str, list[str]] = {}
    for wnid, text in lemmas().items():
        for lemma in text.split(", "):
            found.setdefault(lemma.lower().replace("-", " "), []).append(wnid)
    return found


def plain(name: str) -> str:
    """``001.Black_footed_Albatross`` as ``black footed albatross``."""
    return name.lstrip("0123456789").lstrip(".").lower().replace("_", " ").replace("-", " ")


def text_of(c: Named) -> str:
    """Name, lemmas and definitions of a class."""
    if c.name in definitions():
        return f"{lemmas()[c.name]} ; {definitions()[c.name]}"
    words = plain(c.name).split()
    ends = [" ".join(words[i:]) for i in range(len(words))]
    senses = next((_senses()[end] for end in ends if end in _senses()), [])
    return " ; ".join([plain(c.name), *(f"{lemmas()[s]} {definitions()[s]}" for s in senses)])


def by_glosses(texts: Sequence[str], dimensions: int = DIMENSIONS) -> Matrix:
    """Cosines ``[N, N]`` of texts in the dictionary's space."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    words = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2, token_pattern=r"[a-z]{2,}")
    dictionary = words.fit_transform([f"{lemmas()[w]} ; {definitions()[w]}" for w in lemmas()])
    space = TruncatedSVD(dimensions, algorithm="arpack", random_state=0).fit(dictionary)
    x = normalize(space.transform(words.transform(list(texts))))
    return np.asarray(x @ x.T)


def by_spelling(named: Sequence[Named]) -> Matrix:
    """Cosines ``[N, N]`` of the names' character n-grams, as ``--similarity names`` has them."""
    return from_names([c.reads or plain(c.name) for c in named]).values


def knows_groups(similarity: Matrix, groups: Sequence[str]) -> float:
    """Area under the ROC curve: pairs of one group against pairs of two."""
    from sklearn.metrics import roc_auc_score

    of = np.asarray(groups)
    i, j = np.triu_indices(len(of), 1)
    return float(roc_auc_score(of[i] == of[j], similarity[i, j]))


def part_of(wnid: str) -> str:
    """animal, artefact, food or other, by the number of the synset."""
    return next(part for end, part in PARTS if int(wnid[1:]) < end)


def measured() -> list[dict[str, float | str]]:
    """A row for each data set with groups."""
    rows = []
    for data_set in ("cifar100", "imagenet-r", "imagenet-a"):
        named = classes(data_set)
        groups = [c.group or part_of(c.name) for c in named]
        row: dict[str, float | str] = {"data set": data_set, "spelling": knows_groups(by_spelling(named), groups)}
        for d in TRIED:
            row[f"glosses, {d}"] = knows_groups(by_glosses([text_of(c) for c in named], d), groups)
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="Write benchmarks/results/glosses.json.")
    given = parser.parse_args()
    rows = measured()
    print("  ".join(f"{name:>12}" for name in rows[0]))
    for row in rows:
        print("  ".join(f"{v:>12.3f}" if isinstance(v, float) else f"{v:>12}" for v in row.values()))
    if given.write:
        write_result("glosses", {"area": rows})


if __name__ == "__main__":
    main()
