"""Texts as tokens for CLIP: byte pairs, by the list of merges that comes with the weights.

The vocabulary follows from the list: 256 bytes, the same at the end of a word, one entry for each merge, beginning, and end.
"""

from __future__ import annotations

import hashlib
import html
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.storage.reading import content, json_object

if TYPE_CHECKING:
    import torch

MERGES, VOCABULARY = "merges.txt", "vocab.json"
MOST = 16 << 20
"""Bytes of a list of merges, at most."""
START, END, WORD_END = "<|startoftext|>", "<|endoftext|>", "</w>"
PIECES = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
"""Pattern of what merges do not cross."""


class BytePairs:
    """CLIP's tokenizer.

    Args:
        merges: pairs of pieces, the first are merged first.
        longest: tokens that the text tower has positions for, beginning and end among them. Longer texts lose their end, as
            published.

    Raises:
        Exception: from tokenizers, about merges of pieces that do not exist.
    """

    def __init__(self, merges: Sequence[tuple[str, str]], longest: int) -> None:
        from tokenizers import Regex, Tokenizer
        from tokenizers.models import BPE
        from tokenizers.pre_tokenizers import ByteLevel, Split
        from tokenizers.pre_tokenizers import Sequence as Both

        self.longest = longest
        self.vocabulary = {piece: number for number, piece in enumerate(_pieces(merges))}
        self.start, self.end = self.vocabulary[START], self.vocabulary[END]
        self.digest = hashlib.blake2b(repr((merges, longest)).encode(), digest_size=16).hexdigest()
        self._tokenizer = Tokenizer(BPE(self.vocabulary, list(merges), end_of_word_suffix=WORD_END))
        # no special tokens: "<|endoftext|>" in a text is text
        split = Split(Regex(PIECES), behavior="removed", invert=True)
        self._tokenizer.pre_tokenizer = Both([split, ByteLevel(add_prefix_space=False, use_regex=False)])

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        """Tokens ``[n, L]`` int64 of ``n`` texts; 0 behind the end of a text, ``L`` is the length of the longest."""
        import torch

        found = [
            [self.start, *one.ids[: self.longest - 2], self.end]
            for one in self._tokenizer.encode_batch([cleaned(text) for text in texts])
        ]
        tokens = np.zeros((len(found), max(map(len, found), default=0)), dtype=np.int64)
        for row, numbers in zip(tokens, found, strict=True):
            row[: len(numbers)] = numbers
        return torch.from_numpy(tokens)


def cleaned(text: str) -> str:
    """Lower-cased text, with HTML entities decoded, letters composed, and single blanks."""
    return " ".join(unicodedata.normalize("NFC", html.unescape(html.unescape(text))).split()).lower()


def byte_pairs(where: str, folder: Path, words: int, longest: int) -> BytePairs:
    """The tokenizer of weights in a folder.

    Args:
        where: whose it is, for error messages.
        folder: it has ``merges.txt``, and ``vocab.json`` unless nobody wrote it.
        words: number of tokens that the text tower knows. Further merges do not count.
        longest: see `BytePairs`.

    Raises:
        UserError: tokenizers is missing, no list of merges, or a vocabulary that does not follow from it.
    """
    try:
        lines = content(folder / MERGES, MOST).decode().split("\n")
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or type(error).__name__
        raise UserError(f"{where}: {MERGES} cannot be read ({said}): it must lie beside the weights") from None
    bare = [line.removesuffix("\r") for line in lines[1:] if line.strip()]  # the first line is a title
    wanted = words - len(_pieces(()))
    pairs = [(first, second) for first, _, second in (line.partition(" ") for line in bare[: max(0, wanted)])]
    if len(pairs) != wanted or not all(first and second and " " not in second for first, second in pairs):
        raise UserError(
            f"{where}: {MERGES} has {len(bare)} merges: must be {wanted} lines of two pieces behind a title"
        )
    try:
        found = BytePairs(pairs, longest)
    except ImportError as error:
        mend = "pip install 'transformers>=5'"
        raise UserError(f"{where} needs tokenizers, which cannot be imported ({error.name}): {mend}") from None
    except Exception as error:  # tokenizers raises bare ones
        raise UserError(f"{where}: {MERGES} is no list of merges ({' '.join(str(error).split())[:120]})") from None
    if (folder / VOCABULARY).exists() and json_object(folder / VOCABULARY, MOST, links=True) != found.vocabulary:
        raise UserError(f"{where}: {VOCABULARY} is not the vocabulary that {MERGES} makes: seqsearch reads CLIP's own")
    return found


def _pieces(merges: Sequence[tuple[str, str]]) -> list[str]:
    """The vocabulary, in order."""
    letters = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [chr(256 + number) for number in range(256 - len(letters))]  # for bytes that are no visible letters
    single = [*map(chr, letters), *others]
    return [*single, *(piece + WORD_END for piece in single), *(a + b for a, b in merges), START, END]
