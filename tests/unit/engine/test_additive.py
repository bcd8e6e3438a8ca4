"""Methods that learn a task by itself: each part is trained once, whatever the order, and the bits are those of training."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from seqsearch.core.types import Edge
from seqsearch.engine.evaluator import Job, JobResult
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.training.world import World
from tests.studies import Finished, run_small

FEW = {"simulations": 3, "score_seeds": 1, "random_sequences": 0}
OWN = '''
from dataclasses import dataclass
from pathlib import Path
import torch
from seqsearch.methods.config import Config, param
from seqsearch.methods.base import Additive, Caps, FitReport, Footprint

class Means(Additive):
    """Class means of noisy pixels, on a scale that the first task decides if there is an anchor."""
    @dataclass(frozen=True)
    class Config(Config):
        first: int = param(0, "tasks that parts depend on", minimum=0, maximum=1)
        diverges: int = param(1 << 30, "tasks with an image from this row on diverge", minimum=0)

    caps = Caps()

    @classmethod
    def anchor(cls, config):
        return config.first

    def __init__(self, context, config):
        super().__init__(context, config)
        self.means, self.scale = torch.zeros(0, 3072), torch.ones(1)

    def begin(self, task):
        self.scale = task.train.images.std().reshape(1)
        return FitReport()

    def learn(self, task):
        with Path(__file__).with_name("learned").open("a") as log:
            log.write(f"{len(task.columns)}\\n")
        noise = torch.randn(3072, generator=self.context.generator("noise"))
        x = self.scale * task.train.images.flatten(1) + 0.1 * noise
        means = torch.stack([x[task.train.targets == c].mean(0) for c in task.columns])
        return {"means": means}, FitReport("diverged" if max(task.train.indices) >= self.config.diverges else "ok")

    def absorb(self, part, task):
        self.means = torch.cat([self.means, part["means"]])
        return FitReport(notes={"classes": len(self.means)})

    def predict(self, batch):
        return -torch.cdist(self.scale * batch.images.flatten(1), self.means)

    def features(self, batch):
        return self.scale * batch.images.flatten(1)[:, ::8]

    def state_dict(self):
        return {"means": self.means, "scale": self.scale}

    def load_state_dict(self, state):
        self.means, self.scale = state["means"], state["scale"]

    def memory_footprint(self):
        return Footprint(statistics=4 * self.means.numel())
'''


def means(folder: Path, **params: int) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "means.py").write_text(OWN)
    return f"{folder}/means.py:Means:" + ",".join(f"{k}={v}" for k, v in params.items())


def trained(finished: Finished) -> Counter[str]:
    results = [e.get("edge") or e.get("probe") or {} for e in finished.journal.entries]
    return Counter(state for r in results for state in r.get("trained", ()))


def rows(finished: Finished) -> dict[str, object]:
    """Accuracy rows by identity of the edge."""
    return {e["edge"]["state"]: e["edge"]["classifiers"] for e in finished.journal.entries if "edge" in e}


@pytest.mark.parametrize("first", [0, 1])
def test_each_part_is_trained_once_and_added_elsewhere(tmp_path: Path, first: int) -> None:
    finished = run_small(tmp_path / "run", **FEW, methods=means(tmp_path, first=first))
    counts, edges = trained(finished), list(finished.search.edges.values())
    assert {e.key.method.anchor for e in edges} == {first}
    assert set(counts) == {e.home.key.digest for e in edges}
    assert set(counts.values()) == {1}
    assert len(counts) < 0.7 * len(edges)
    assert len((tmp_path / "learned").read_text().split()) == len(counts)
    assert {len(e.key.prefix) for e in edges if e.key.digest in counts} == set(range(1, first + 2))


def test_added_parts_are_as_good_as_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added = run_small(tmp_path / "added", **FEW, methods=means(tmp_path, first=1))
    monkeypatch.setattr("seqsearch.methods.spec._anchor", lambda build, config: None)
    plain = run_small(tmp_path / "plain", **FEW, methods=means(tmp_path, first=1))
    assert len(trained(plain)) > len(trained(added))
    assert added.found == plain.found
    assert rows(plain).items() <= rows(added).items()


class Forgetful(InlineEvaluator):
    """Loses every part after every job, as a node that is gone."""

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        [(job, result)] = super().wait()
        if isinstance(job, Edge):
            self.drop([job.key.part])
        return [(job, result)]


def test_a_lost_part_is_trained_again_and_said_to_be(tmp_path: Path) -> None:
    kept = run_small(tmp_path / "kept", **FEW, methods=means(tmp_path, first=0))
    lost = run_small(tmp_path / "lost", Forgetful, **FEW, methods=means(tmp_path, first=0))
    assert max(trained(lost).values()) > 1
    assert set(trained(lost)) == set(trained(kept))
    assert lost.found == kept.found
    assert rows(lost) == rows(kept)


def test_what_cannot_be_learned_is_a_result_wherever_it_occurs(tmp_path: Path) -> None:
    """It is tried once, at home; whoever would have added it is told, and nothing of it is chosen."""
    finished = run_small(
        tmp_path / "run", **FEW, methods=means(tmp_path, first=1, diverges=720), candidates=24, condensed=8
    )
    edges = finished.search.edges
    diverged = {e["edge"]["state"] for e in finished.journal.entries if e.get("edge", {}).get("status") == "diverged"}
    assert diverged
    assert all(edges[state].home is edges[state] for state in diverged)
    bad = {edges[state].key.prefix[-1] for state in diverged}
    assert any(e.key.prefix[-1] in bad and e.key.digest not in diverged for e in edges.values()), (
        "nobody else asked for it"
    )
    assert not bad & {task for sequence in finished.found for task in sequence}


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    run_small(tmp_path / "run", **FEW, methods=means(tmp_path, first=1))
    assert not list((tmp_path / "run" / "states").rglob("*.json"))


def test_a_run_that_was_killed_goes_on_without_training_parts_twice(tmp_path: Path) -> None:
    method = means(tmp_path, first=0)
    whole = run_small(tmp_path / "whole", **FEW, methods=method)
    cut = tmp_path / "cut"

    class Killed(InlineEvaluator):
        left = 12

        def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            return super().wait()

    with pytest.raises(KeyboardInterrupt):
        run_small(cut, Killed, **FEW, methods=method)
    resumed = run_small(cut, **FEW, methods=method)
    assert resumed.found == whole.found
    assert set(trained(resumed).values()) == {1}


def test_sums_over_stored_features_are_not_kept_apart(tmp_path: Path) -> None:
    finished = run_small(tmp_path / "run", methods="simplecil")
    assert isinstance(finished.search, Search)
    assert isinstance(finished.journal, Journal)
    assert {e.key.method.anchor for e in finished.search.edges.values()} == {None}
    assert isinstance(finished.study.world, World)
