"""Texts without the words that depend on the class, for evaluations that ask what texts reveal of it.

A word stays if its presence in a text is, as far as the learned images show, independent of the class. Let n_c be the
number of learned texts of class c, o_c how many of them have the word, N and O the sums over the C classes, and p = O / N.

    X^2 = sum_c (o_c - n_c p)^2 / (n_c p (1 - p))

is the chi-squared statistic of independence. Its mean over all ways to deal out the classes to the texts is (C - 1) N / (N - 1).
A word stays if X^2 is below this mean, and if every class can be expected to have the word at least once (p min_c n_c >= 1).
Of words that are independent, about half stay. Words that depend on the class are removed as soon as the texts show any sign
of it. So the errors are on the side of removing too much. Words that no learned text has are removed, too.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_WORDS = re.compile(r"\w+")


@dataclass(frozen=True)
class ClassFree:
    """The words that stay, and how many different words the learned texts have (``of``)."""

    kept: frozenset[str]
    of: int

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """The kept words of each text in lower case, in their order, with blanks between them; the text may become empty."""
        return [" ".join(word for word in words(text) if word in self.kept) for text in texts]


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORDS.findall(text.lower())


def class_free(texts: Sequence[str], labels: NDArray[np.int64]) -> ClassFree:
    """The words that do not depend on the class, by learned ``texts`` ``[n]`` of classes ``labels`` ``[n]``."""
    found, classes, n = np.unique(labels, return_inverse=True, return_counts=True)
    place, present, lengths = dict[str, int](), array("l"), []
    for text in texts:
        own = {place.setdefault(word, len(place)) for word in words(text)}
        present.extend(own)
        lengths.append(len(own))
    numbers, of_class = np.array(present, dtype=np.int64), np.repeat(classes, lengths)
    in_texts = np.bincount(numbers, minlength=len(place))
    frequent = np.flatnonzero(
        in_texts * n.min() >= len(texts)
    )  # few: the table below has no more cells than texts have words
    row = np.full(len(place), -1)
    row[frequent] = np.arange(len(frequent))
    known = row[numbers] >= 0
    cells = row[numbers[known]] * len(found) + of_class[known]
    counts = np.bincount(cells, minlength=len(frequent) * len(found)).reshape(len(frequent), len(found))
    kept = set(frequent[independent(counts, n)].tolist())
    return ClassFree(frozenset(word for word, number in place.items() if number in kept), len(place))


def independent(counts: NDArray[np.int64], n: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each word varies between classes no more than by chance: texts with it by class ``counts`` ``[words, C]``, of ``n``
    ``[C]``."""
    p = counts.sum(1) / n.sum()
    spread = ((counts - np.outer(p, n)) ** 2 / n).sum(1)  # X^2 p (1 - p), which is 0 for a word of all texts
    mean = (len(n) - 1) * n.sum() / max(1, n.sum() - 1)
    found: NDArray[np.bool_] = (spread < mean * p * (1 - p)) | (p == 1)
    return found
