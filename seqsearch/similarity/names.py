"""Similarity of class names: character n-grams, which need nothing, or a text encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.core.text import shown
from seqsearch.similarity.encoders import encode
from seqsearch.similarity.features import from_prototypes
from seqsearch.similarity.matrix import Similarity, check_names, checked

NGRAMS = (2, 4)
"""Lengths of the n-grams: stems and endings of English words; single letters distinguish nothing, longer ones hardly recur."""
_SEPARATORS = str.maketrans("_-/", "   ")


def from_names(names: Sequence[str], encoder: str = "", device: str = "cpu", template: str = "{}") -> Similarity:
    """Cosines between the embeddings of class names.

    Without an encoder: TF-IDF over character n-grams of 2 to 4 within words and their edges (scikit-learn's ``char_wb``),
    lower-cased, with underscores, hyphens and slashes as spaces. Words would do less: most names are one word, and any two
    of those would have cosine 0, where n-grams see ``sunflower`` and ``flower``. It sees spelling, not meaning.

    Args:
        names: of the classes, all different.
        encoder: folder or hub name of a sentence-transformers or CLIP model (`seqsearch.similarity.encoders`). It is given
            the names with underscores as spaces.
        device: ``cpu`` or ``cuda``, for the encoder.
        template: what the encoder is given, with the name in place of ``{}``. CLIP was trained on captions: ``a photo of a {}``.

    Raises:
        UserError: names as in `checked`; a template without ``{}``, or without encoder; an encoder that cannot be loaded.
    """
    check_names(names, "class names")
    if template.count("{}") != 1:
        raise UserError(f"template {template!r} must have the class name's place, {{}}, once: e.g. 'a photo of a {{}}'")
    if not encoder:
        if template != "{}":
            raise UserError(f"template {template!r} is for an encoder: name one, or leave the template out")
        return _from_ngrams(names)
    texts = [template.replace("{}", name.replace("_", " ")) for name in names]
    embeddings, identity = encode(texts, encoder, device)
    said = "" if template == "{}" else f", as {template!r}"
    return from_prototypes(embeddings, names, shown(f"class names, text encoder {identity}{said}"))


def _from_ngrams(names: Sequence[str]) -> Similarity:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [name.lower().translate(_SEPARATORS) for name in names]
    source = f"class names, TF-IDF of character {NGRAMS[0]}- to {NGRAMS[1]}-grams"
    try:
        tfidf = TfidfVectorizer(
            analyzer="char_wb", ngram_range=NGRAMS, lowercase=False, dtype=np.float64
        ).fit_transform(texts)
    except ValueError:  # no n-gram in any name
        raise UserError("class names hold separators only: give names that say something") from None
    return checked((tfidf @ tfidf.T).toarray(), names, source, source)
