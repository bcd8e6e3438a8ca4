"""What all classes look like to a method: prototypes and confusions, through the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocols.cldyb.study import prepare
from seqsearch.core.errors import UserError
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.all_classes import AllClassesPlanner
from tests.studies import small_settings


def looked(folder: Path, kind: Any, method: str) -> tuple[np.ndarray, Any, Any]:
    study = prepare(small_settings(methods=method, classes_per_task=2), folder / "states", "cpu")
    planner = AllClassesPlanner(kind, study.methods[0], study.view, 0, images=3)
    evaluator = InlineEvaluator(study.world)
    Search(evaluator, Journal(folder)).run([planner])
    return planner.values, study, evaluator


def test_prototypes_are_mean_features_of_training_images(tmp_path: Path) -> None:
    values, study, evaluator = looked(tmp_path, "prototypes", "simplecil")
    source = evaluator.trainer.source("glyph_vit")
    for position in (0, 7, 47):
        index = study.world.class_index(study.view.class_ids[position])
        rows = study.world.split.rows(index, "train")[:3]
        np.testing.assert_allclose(values[position], source.frozen(rows).mean(0).numpy(), rtol=1e-5, atol=1e-6)


def test_confusion_counts_reward_images_and_agrees_with_the_accuracy_of_the_method(tmp_path: Path) -> None:
    values, _, _ = looked(tmp_path, "confusion", "simplecil")
    assert values.shape == (48, 48)
    assert (values.sum(axis=1) == 4).all()  # reward=4
    [edge] = [e["edge"] for e in Journal(tmp_path).entries if "edge" in e]
    assert values.trace() == sum(map(sum, edge["classifiers"][0].correct))
    assert 0 < values.trace() < values.sum()


def test_columns_are_in_the_order_of_the_pool_whatever_order_it_has(tmp_path: Path) -> None:
    study = prepare(small_settings(methods="simplecil", classes_per_task=2), tmp_path / "states", "cpu")
    view = study.view
    order = np.random.default_rng(0).permutation(len(view.class_ids))
    shuffled = type(view)(
        tuple(view.class_ids[i] for i in order), tuple(view.groups[i] for i in order), view.splits, view.arrivals
    )
    planners = [AllClassesPlanner("confusion", study.methods[0], v, 0, images=3) for v in (view, shuffled)]
    Search(InlineEvaluator(study.world), Journal(tmp_path)).run(planners)
    np.testing.assert_array_equal(planners[0].values[np.ix_(order, order)], planners[1].values)


def test_a_method_that_cannot_learn_all_classes_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"finetune:.* diverged on all classes at once .*: take similarity from another"
    ):
        looked(tmp_path, "confusion", "finetune:epochs=1,lr=1e30,optimizer=sgd")
