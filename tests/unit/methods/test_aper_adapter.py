"""APER's features, prototypes and scores, recomputed block by block from the paper's equations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from tests.conformance.lab import Case, Lab

CLASSES = (3, 8, 11)


def test_prototypes_are_means_of_both_features_and_scores_their_cosines(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    method = lab.fresh(Case("aper", "aper_adapter"), lr=0.5, epochs=10)
    lab.fit(method, CLASSES, (1, 2))
    state, vit = method.state_dict(), lab.backbone.module().eval()
    assert float(state["adapters.up"].abs().max()) > 0

    def adapted(images: torch.Tensor) -> torch.Tensor:
        x = vit._pos_embed(vit.patch_embed(images))
        for number, block in enumerate(vit.blocks):
            x = x + block.attn(block.norm1(x))
            hidden = torch.relu(x @ state["adapters.down"][number].T + state["adapters.down_bias"][number])
            beside = hidden @ state["adapters.up"][number].T + state["adapters.up_bias"][number]
            x = x + block.mlp(block.norm2(x)) + 0.1 * beside
        return vit.fc_norm(vit.norm(x).mean(1))

    with torch.no_grad():
        both = {
            c: torch.cat([vit(batch.images), adapted(batch.images)], dim=1).numpy()
            for c in (*CLASSES, 1, 2)
            for batch in [lab.batch((c,), "train", "val")]
        }
    expected = np.stack([features.mean(0) for features in both.values()])
    np.testing.assert_allclose(state["prototypes"].numpy(), expected, atol=1e-4)
    assert np.abs(expected[:, :160] - expected[:, 160:]).max() > 0.1, "the adapters learned nothing"

    image, prototypes = both[8][0], state["prototypes"].numpy()
    cosine = [image @ p / np.linalg.norm(image) / np.linalg.norm(p) for p in prototypes]
    np.testing.assert_allclose(method.predict(lab.batch((8,), "train", "val"))[0].numpy(), cosine, atol=1e-4)


def test_later_tasks_leave_the_adapters_alone(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    method = lab.fresh(Case("aper", "aper_adapter"))
    lab.fit(method, CLASSES)
    before, space = method.state_dict(), method.feature_space()
    lab.fit(method, (1, 2))
    after = method.state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before if k.startswith("adapters."))
    assert space == method.feature_space()
