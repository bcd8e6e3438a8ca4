"""Every setting of the search, each as a real study in process: the paper's ablations are settings, not other code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqsearch.stats import accuracy
from tests.studies import run_small

SETTINGS: list[dict[str, Any]] = [
    {"allocation": "uniform"},
    {"allocation": "halving"},
    {"allocation": "uct"},
    {"followups": "greedy", "lookahead": 2},
    {"followups": "condensed"},
    {"lookahead": 0},
    {"reward": "forgetting"},
    {"reward": "gap-to-joint"},
    {"reward_split": "test"},
    {"seed_class": "near-past"},
    {"sampler": "group-uniform"},
    {"sampler": "uniform"},
    {"clustering": False},
    {"raw_features": True},
    {"knn_scope": "seen"},
    {"selector": "similar-past"},
    {"selector": "random"},
    {"screen_to": 0.5, "clustering": False, "sampler": "uniform", "classes_per_task": 2, "tasks": 4},
    {"temperature": 1.0},
    {"temperature": float("inf")},
    {"discount": 0.5},
    {"in_flight": 1},
    {"candidates": 2, "condensed": 8},
    {"simulations": 2},
    {"tasks": 1},
    {"tasks": 2},
    {"classes_per_task": 2, "tasks": 4},
    {"exclude_groups": "Cyrillic"},
    {"random_sequences": 0},
    {"baseline": "greedy"},
    {"baseline": "greedy", "screen_to": 0.5, "clustering": False, "random_sequences": 0},
    {"baseline": "within-group", "classes_per_task": 2},
    {"reward": "shuffled"},
    {"reward": "shuffled", "allocation": "uct", "temperature": 1.0},
]


@pytest.mark.parametrize("change", SETTINGS, ids=lambda c: ",".join(f"{k}={v}" for k, v in c.items()))
def test_every_setting_searches_and_scores(tmp_path: Path, change: dict[str, Any]) -> None:
    done = run_small(tmp_path, score_seeds=1, **change)
    s = done.study.settings
    search = done.plans.searches[0]
    classes = [c for t in search.sequence for c in t.classes]
    assert len(search.sequence) == s.tasks
    assert len(set(classes)) == s.tasks * s.classes_per_task
    assert set(classes) <= set(done.study.view.class_ids)
    for step in range(2, s.tasks + 1):
        rows = [j for j in search.trace if j.step == step]
        assert sum(j.chosen for j in rows) == 1
        assert sum(j.visits for j in rows) <= s.simulations
        assert all(np.isfinite(j.value) for j in rows if j.visits)
    outcome = done.plans.scorers[0].outcomes["simplecil"][0][0]
    assert outcome.accuracy.shape == (s.tasks, s.tasks)


def test_the_value_of_a_candidate_is_its_reward_when_nothing_follows(tmp_path: Path) -> None:
    done = run_small(tmp_path, lookahead=0, score_seeds=1, random_sequences=0)
    search = done.plans.searches[0]
    chosen = [j for j in search.trace if j.chosen]
    for step, evaluated in enumerate(chosen, 2):
        assert evaluated.value == evaluated.reward == pytest.approx(accuracy.reward(search.outcomes[0].accuracy, step))


def test_the_hardest_candidate_is_chosen_and_easy_is_not_hard(tmp_path: Path) -> None:
    hard = run_small(tmp_path / "hard", lookahead=0, simulations=4, random_sequences=0).plans.searches[0]
    for step in (2, 3):
        rows = [j for j in hard.trace if j.step == step]
        assert next(j.value for j in rows if j.chosen) == max(j.value for j in rows)


def test_searches_are_independent_and_share_the_first_task(tmp_path: Path) -> None:
    done = run_small(tmp_path, searches=2, score_seeds=1)
    first, second = done.found
    assert first[0] == second[0]
    assert first[1:] != second[1:]


def test_separate_searches_give_each_method_its_own_sequence(tmp_path: Path) -> None:
    done = run_small(tmp_path, methods="simplecil,ranpac:M=64", separate=True, score_seeds=1)
    assert [[m.label for m in p.methods] for p in done.plans.searches] == [["simplecil"], ["ranpac:M=64"]]
    [scorer] = done.plans.scorers
    assert {m: len(rollouts) for m, rollouts in scorer.outcomes.items()} == {"simplecil": 2, "ranpac:M=64": 2}


def test_another_seed_gives_another_study(tmp_path: Path) -> None:
    a, b = run_small(tmp_path / "a", random_sequences=0), run_small(tmp_path / "b", seed=1, random_sequences=0)
    assert a.study.first != b.study.first
    assert a.study.world.split.digest != b.study.world.split.digest


def test_another_visit_to_a_candidate_looks_ahead_along_other_tasks(tmp_path: Path) -> None:
    done = run_small(tmp_path, allocation="uniform", condensed=2, simulations=8, random_sequences=0)
    ahead: dict[object, set[object]] = {}
    for e in done.search.edges.values():
        if len(e.key.prefix) == 3 and e.judged == "reward":
            ahead.setdefault(e.key.prefix[1], set()).add(e.key.prefix[2])
    tried = {j.task for j in done.plans.searches[0].trace if j.step == 2}
    assert min(len(ahead[task]) for task in tried) > 1


def test_followups_are_common_to_siblings(tmp_path: Path) -> None:
    """The n-th visit to every sibling uses follow-up draw n, as far as their classes allow."""
    done = run_small(tmp_path, allocation="uniform", simulations=4, random_sequences=0)
    second = [e.key.prefix for e in done.search.edges.values() if len(e.key.prefix) == 3 and e.judged == "reward"]
    step_two = [p for p in second if p[1] in {j.task for j in done.plans.searches[0].trace if j.step == 2}]
    follow = [set(p[2].classes) for p in step_two[:4]]
    assert len(follow) == 4
    overlap = [len(a & b) for i, a in enumerate(follow) for b in follow[:i]]
    assert np.mean(overlap) > 1.5  # of 3; independent draws share 0.2 on average
