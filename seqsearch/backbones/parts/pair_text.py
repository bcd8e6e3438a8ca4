"""Texts as tokens for a backbone of image-text pairs: by the word pieces of a vocabulary, or by hashes of words."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.core.typed import brief

if TYPE_CHECKING:
    import torch

PAD, CLS, SEP = 0, 1, 2
"""Tokens of `HashedWords`: padding, beginning and end of a text; 3 is left free, words begin at `FIRST_WORD`."""
FIRST_WORD = 4
MULTIPLE = 8
"""Texts of a batch are padded to the longest, rounded up to a multiple of this: few shapes, and little computed in vain."""
SHOWN = 60
"""Characters of a text that an error message quotes."""
_WORDS = re.compile(r"\w+|[^\w\s]")


class Words(Protocol):
    """Tokenizer that turns texts into numbers of tokens."""

    digest: str

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """Of each text, with those of its beginning and end."""
        ...


class HashedWords:
    """A word is the CRC-32 of its lower-cased letters modulo the vocabulary: no file, no unknown words, rare collisions.

    Args:
        vocabulary: numbers of tokens in all.
    """

    def __init__(self, vocabulary: int) -> None:
        self.digest = f"crc32 of words modulo {vocabulary}"
        self._number = lru_cache(maxsize=1 << 16)(
            lambda word: FIRST_WORD + zlib.crc32(word.encode()) % (vocabulary - FIRST_WORD)
        )

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        return [[CLS, *map(self._number, _WORDS.findall(text.lower())), SEP] for text in texts]

    def __reduce__(self) -> tuple[type[HashedWords], tuple[int]]:
        return HashedWords, (int(self.digest.rpartition(" ")[2]),)


class WordPieces:
    """BERT's word pieces, lower-cased.

    Args:
        vocabulary: number by piece; ``[PAD]`` has 0.
        digest: of the vocabulary.
    """

    def __init__(self, vocabulary: Mapping[str, int], digest: str) -> None:
        from tokenizers import BertWordPieceTokenizer

        self.digest = digest
        self._tokenizer = BertWordPieceTokenizer(dict(vocabulary), lowercase=True)

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        return [found.ids for found in self._tokenizer.encode_batch(list(texts))]


class Tokeniser:
    """Texts -> what `FlavaNetwork` reads of them.

    Args:
        words: what turns a text into numbers.
        longest: tokens that the network has positions for, beginning and end among them.
        cut: longer texts lose their end behind so many tokens; 0: they are refused; None: the backbone has no such option.
        name: of the backbone, for error messages.

    Raises:
        UserError: ``cut`` is more than ``longest``.
    """

    def __init__(self, words: Words, longest: int, cut: int | None, name: str) -> None:
        if cut and cut > longest:
            raise UserError(f"backbone {name!r}: cut={cut} is more than the {longest} tokens that it takes: lower it")
        self.words, self.longest, self.cut, self.name = words, longest, cut, name

    def __call__(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """``input_ids`` and ``attention_mask``, each ``[n, L]`` int64, of ``n`` texts.

        Raises:
            UserError: a text has more tokens than the network takes, and is not to be cut.
        """
        import torch

        found = [self._fitted(text, numbers) for text, numbers in zip(texts, self.words.numbers(texts), strict=True)]
        most = max((len(numbers) for numbers in found), default=0)
        shape = len(found), min(self.longest, -(-most // MULTIPLE) * MULTIPLE)
        tokens = np.full(shape, PAD, dtype=np.int64)
        for row, numbers in zip(tokens, found, strict=True):
            row[: len(numbers)] = numbers
        lengths = np.array([len(numbers) for numbers in found], dtype=np.int64)
        mask = (np.arange(shape[1]) < lengths[:, None]).astype(np.int64)
        return {"input_ids": torch.from_numpy(tokens), "attention_mask": torch.from_numpy(mask)}

    def _fitted(self, text: str, numbers: list[int]) -> list[int]:
        if self.cut and len(numbers) > self.cut:
            return [*numbers[: self.cut - 1], numbers[-1]]
        if len(numbers) > self.longest:
            hint = "" if self.cut is None else f", or cut texts ({self.name.partition(':')[0]}:cut={self.longest})"
            raise UserError(
                f"backbone {self.name!r} takes texts of at most {self.longest} tokens, and one has {len(numbers)} "
                f"({printable(text)[:SHOWN]!r}): shorten it{hint}"
            )
        return numbers


def check_cut(cut: object, name: str) -> None:
    """Raises UserError: what was given for the option ``cut`` of a backbone is no number of tokens."""
    if isinstance(cut, bool) or not isinstance(cut, int) or (cut and not 4 <= cut <= 1 << 16):
        raise UserError(f"backbone {name!r}: cut={brief(cut)} must be 0, or a whole number of tokens from 4")
