"""Classes of a pool that pre-training may have shown: those named like a class of ImageNet.

"CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models" begins with this doubt: a network may know a
static data set from pre-training. Names are compared with the lists that timm ships, whose files are read without importing timm.
The same name does not prove that a network has seen an image, and another name does not prove that it has not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from seqsearch.building.aliases import plain
from seqsearch.core.registry import names as registered
from seqsearch.results.class_aliases import forms
from seqsearch.results.frozen import FrozenClass

SYNSETS = {"ImageNet-1k": "imagenet_synsets.txt", "ImageNet-21k": "imagenet21k_goog_synsets.txt"}
"""timm's list of the classes of each set, as WordNet ids."""
_TAGS = {"ImageNet-1k": ("in1k",), "ImageNet-21k": ("in12k", "in21k", "in22k")}
"""As timm's names of weights give the sets: ``augreg_in21k_ft_in1k``. 12k and 22k are other selections of the same images."""


def named_like(names: Iterable[str], label_set: str) -> dict[str, str]:
    """Classes that are named like a class of ``label_set``, a key of `SYNSETS`, and the names of that one.

    Case, separators, plural and a number in front do not count (``001.Albatross``, ``hot_dogs``). A WordNet id names its class.
    """
    known = _words(label_set)
    found = {}
    for name in names:
        own = forms(FrozenClass(name, "", "")).own
        if (form := next((f for f in sorted(own | {plain(o) for o in own}) if f in known), None)) is not None:
            found[name] = known[form]
    return found


def pretrained_on(weights: Mapping[str, str]) -> tuple[str, ...]:
    """The sets that weights of timm models may have seen; empty: no model of timm is among the backbones.

    Args:
        weights: tags of weights by backbone, as ``config.json`` has them (``identity.weights``). Weights from a file may have
            seen any set.
    """
    embedded = registered("backbone")
    of_timm = [tag for name, tag in weights.items() if ":" not in name and name not in embedded]
    said = [{s for s, marks in _TAGS.items() if any(m in tag for m in marks)} or set(SYNSETS) for tag in of_timm]
    return tuple(s for s in SYNSETS if any(s in own for own in said))


@cache
def _words(label_set: str) -> dict[str, str]:
    """Names of each class by their `plain` forms; the first class of several with one name."""
    spec = find_spec("timm")
    assert spec is not None, "seqsearch requires timm"
    assert spec.origin is not None, "timm is a package with an __init__.py"
    folder = Path(spec.origin).parent / "data" / "_info"
    lemmas = dict(line.split("\t", 1) for line in (folder / "imagenet_synset_to_lemma.txt").read_text().splitlines())
    found: dict[str, str] = {}
    for synset in (folder / SYNSETS[label_set]).read_text().split():
        for word in (synset, *lemmas[synset].split(",")):
            found.setdefault(plain(word), lemmas[synset])
    return found
