"""Class-incremental learning whose pairs are evaluated with an empty text for every image.

Training is that of `class_incremental`. A network need not have seen empty texts when it was pre-trained (`flava` has not,
`glyph_flava` has), so the loss against texts as they are is of this network, not of the data.
"""

from __future__ import annotations

from seqsearch.methods.data import ImageSource
from seqsearch.training.altered_pairs import AlteredPairs, same
from seqsearch.training.scenarios.class_incremental import ClassIncremental


class WithoutTexts(ClassIncremental):
    """See the module."""

    def evaluated_on(self, backbone: str) -> ImageSource:
        return AlteredPairs(self.source(backbone), same, None)


build = WithoutTexts
