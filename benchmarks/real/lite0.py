"""EfficientNet-Lite0 with ImageNet weights as backbones of one's own: ``benchmarks/real/lite0.py:at_224`` and ``...:at_96``.

A training step on an image of 224 pixels takes ten times as long as one on 96, too long to train the whole network in a search on
two cores.
"""

from __future__ import annotations

from seqsearch.backbones.timm_model import TimmModel
from seqsearch.building.lite0 import converted, packaged

NAME = "tf_efficientnet_lite0"


def at_224() -> TimmModel:
    """The size that the weights were trained on."""
    return _at(224)


def at_96() -> TimmModel:
    """A fifth of the pixels."""
    return _at(96)


def _at(size: int) -> TimmModel:
    import timm

    model = timm.create_model(NAME, num_classes=0, pretrained_cfg_overlay={"input_size": (3, size, size)})
    weights = converted(packaged())
    model.load_state_dict({key: weights[key] for key in model.state_dict()})
    return TimmModel(NAME, model.eval(), f"{NAME}.{size}")
