"""What a method is held against: by its backbone, or by that of the run whose results it has; nothing of a damaged file."""

import pytest

from protocols.running.references import backbone_of, reference_of

CONFIG = {
    "identity": {
        "methods": {"a": {"backbone": "vit"}, "b": {"backbone": 3}},
        "taken_over": {"c": "resnet", "d": ""},
        "references": {"vit": {"mean": "simplecil@vit", "bound": "joint@vit"}, "resnet": {"bound": "joint@resnet"}},
    }
}


@pytest.mark.parametrize(
    ("method", "backbone", "bound"),
    [("a", "vit", "joint@vit"), ("b", "", ""), ("c", "resnet", "joint@resnet"), ("d", "", ""), ("e", "", "")],
)
def test_by_backbone(method, backbone, bound):
    assert backbone_of(CONFIG, method) == backbone
    assert reference_of(CONFIG, method, "references", "bound") == bound


@pytest.mark.parametrize("config", [{}, {"identity": 3}, {"identity": {"methods": [1], "bounds": "x"}}])
def test_a_damaged_identity_says_nothing(config):
    assert backbone_of(config, "a") == reference_of(config, "a", "bounds", "label") == ""
