"""The parts of the upper bound against scikit-learn, and its choice among them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

from seqsearch.methods.joint import LEARNERS, ridge, votes
from tests.conformance.lab import TASKS, Case, Lab, rows_of, same


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"))


@pytest.mark.parametrize(("n", "width"), [(30, 12), (12, 30), (20, 20)])
def test_ridge_is_that_of_sklearn(n: int, width: int) -> None:
    g = torch.Generator().manual_seed(0)
    h, y = torch.randn(n, width, generator=g).double(), torch.randn(n, 3, generator=g).double()
    expected = Ridge(alpha=0.7, fit_intercept=False).fit(h.numpy(), y.numpy()).coef_.T
    np.testing.assert_allclose(ridge(h, y, 0.7).numpy(), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("k", [1, 4, 50])
def test_votes_are_weighted_by_similarity(k: int) -> None:
    rng = np.random.default_rng(0)
    known, queries, columns = rng.normal(size=(20, 6)), rng.normal(size=(7, 6)), np.arange(20) % 3
    known, queries = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (known, queries))
    expected = np.zeros((7, 3))
    for i, query in enumerate(queries):
        cosines = [float(query @ one) for one in known]
        for j in sorted(range(20), key=lambda j: -cosines[j])[:k]:
            expected[i, columns[j]] += np.exp((cosines[j] - 1) / 0.1)
    found = votes(torch.from_numpy(queries), torch.from_numpy(known), torch.from_numpy(columns), k, 0.1)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)


@pytest.mark.long
def test_best_is_the_learner_with_the_highest_validation_accuracy(lab: Lab) -> None:
    method = lab.fresh(Case("joint", "joint", {"learner": "best"}))
    notes = lab.fit(method, *TASKS[:2]).notes
    accuracies = [notes[f"val_{learner}"] for learner in LEARNERS]
    assert method.chosen == LEARNERS[int(np.argmax(accuracies))]
    alone = lab.fresh(Case("joint", "joint", {"learner": method.chosen}))
    alone.caps = method.caps  # it is given validation images, too: else it would learn from these
    lab.fit(alone, *TASKS[:2])
    batch = lab.batch(TASKS[0] + TASKS[1])
    torch.testing.assert_close(method.predict(batch), alone.predict(batch))


@pytest.mark.long
def test_best_goes_on_from_its_state(lab: Lab) -> None:
    case = Case("joint", "joint", {"learner": "best"})
    method = lab.fresh(case)
    lab.fit(method, TASKS[0])
    restored = lab.restored(case, method.state_dict(), TASKS[0])
    assert restored.chosen == method.chosen
    for one in (method, restored):
        lab.fit(one, TASKS[1])
    assert same(method.state_dict(), restored.state_dict())


def test_a_network_that_learned_nothing_is_not_chosen(lab: Lab) -> None:
    method = lab.fresh(Case("joint", "joint", {"learner": "best", "lr": 0.0, "backbone_lr": 0.0}))
    lab.fit(method, *TASKS[:2])
    assert method.chosen != "finetune"


@pytest.mark.parametrize("learner", ["best", *LEARNERS])
def test_it_stores_every_image_it_may_need(lab: Lab, learner: str) -> None:
    method = lab.fresh(Case("joint", "joint", {"learner": learner, "epochs": 1}))
    lab.fit(method, *TASKS[:2])
    assert set(method.exemplars().tolist()) == rows_of(lab, TASKS[0] + TASKS[1], "train", "val")


def test_it_starts_anew_from_the_pretrained_weights(lab: Lab) -> None:
    """What came before leaves no trace but the images: at rates of 0 the features are the frozen ones."""
    method = lab.fresh(Case("joint", "joint", {"learner": "finetune"}))
    lab.fit(method, TASKS[0])
    batch = lab.batch(TASKS[1])
    assert not torch.allclose(method.features(batch), batch.frozen, atol=1e-3)
    still = lab.fresh(Case("joint", "joint", {"learner": "finetune", "backbone_lr": 0.0}))
    still.n_seen, still.n_tasks = method.n_seen, method.n_tasks
    still.load_state_dict(method.state_dict())
    lab.fit(still, TASKS[1])
    torch.testing.assert_close(still.features(batch), batch.frozen, rtol=1e-4, atol=1e-4)
