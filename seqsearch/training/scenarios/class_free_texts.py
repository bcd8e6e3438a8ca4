"""Class-incremental learning whose pairs are evaluated with texts without the words that depend on the class.

Training is that of `class_incremental`. A test text keeps the words whose presence does not depend on the class, by the texts
of all images of the pool that are not test images (`seqsearch.training.class_free`). The words are the same for all methods,
class orders and experiences. So the loss against texts as they are is what these words give away of the class.
"""

from __future__ import annotations

from functools import cached_property

from seqsearch.methods.data import ImageSource
from seqsearch.training.altered_pairs import AlteredPairs, same
from seqsearch.training.class_free import ClassFree, class_free
from seqsearch.training.scenarios.class_incremental import ClassIncremental
from seqsearch.training.world import World


class ClassFreeTexts(ClassIncremental):
    """See the module."""

    @cached_property
    def words(self) -> ClassFree:
        """The words that stay."""
        return words_of(self.world)

    def evaluated_on(self, backbone: str) -> ImageSource:
        source = self.source(backbone)
        return AlteredPairs(source, same, lambda rows: self.words(source.texts(rows)))


def words_of(world: World) -> ClassFree:
    """The words of a world's texts that do not depend on the class, by all images that are not test images."""
    rows, labels = world.rows(world.class_ids(range(len(world.images.classes))), "train", "val", "reward")
    return class_free(world.images.texts(rows), labels)


build = ClassFreeTexts
