"""What captions of glyphs give away at test time: methods with whole test texts, class-free ones, and none.

    python -m benchmarks.learning.text_at_test [--methods a,b:x=1] [--seeds 6] [--half 1] [--write [NAME]]

The pool and the experiences are those of `seqsearch demo mcil`. Each seed is a random class order and a training seed of its
own, the same for every method. A state is trained once and evaluated three times, as `seqsearch mcil --text-at-test` evaluates
it. So the differences are paired over the runs. Intervals and p-values are over the runs, and hold for this pool, its test
images and these settings. p-values have Holm's correction over all differences.

``text_alone`` is a classifier of test texts without any network: the nearest class mean of word counts. It shows how much of
the class the texts give away themselves. Its interval is over draws of the pool's images.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import write_rows
from benchmarks.learning.learnability import learned
from protocols.mcil.settings import SCENARIOS, McilSettings
from protocols.mcil.study import McilStudy, prepare
from seqsearch.core.grammar import parse_items
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import EvaluationSplit, MethodSpec, StateKey
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.methods.base import Method
from seqsearch.stats import accuracy as metrics
from seqsearch.stats.mean import ACCURACY, DIFFERENCE, OverRuns, over_runs
from seqsearch.stats.multiple import holm
from seqsearch.training.class_free import class_free, words
from seqsearch.training.device import pin_threads
from seqsearch.training.scenario import Evaluation, SourceOf
from seqsearch.training.scenarios.class_free_texts import ClassFreeTexts
from seqsearch.training.scenarios.class_incremental import ClassIncremental
from seqsearch.training.scenarios.without_texts import WithoutTexts
from seqsearch.training.world import World

METHODS = "simplecil,frozen_head,mm_ub,mm_dpcf,mm_coda_prompt,mm_er:share=.25,icarl:memory=5,memory_of=class,lwf,finetune,mm_lb"
TEXTS = tuple(SCENARIOS)
POOL = "glyphs:captions=first,classes=64,train=16,reward=4,test=10,strength=1.7"
DRAWS = 10
"""Of the pool's images, for the classifier of texts alone."""


class AllTexts(ClassIncremental):
    """Evaluates a state with whole test texts, and beside them with class-free texts and with none."""

    def __init__(self, world: World, source: SourceOf) -> None:
        super().__init__(world, source)
        self.others = {"class-free": ClassFreeTexts(world, source), "none": WithoutTexts(world, source)}

    def evaluate(self, method: Method, key: StateKey, evaluated: EvaluationSplit) -> Evaluation:
        found = super().evaluate(method, key, evaluated)
        further = [
            replace(scenario.evaluate(method, key, evaluated).classifiers[0], name=name)
            for name, scenario in self.others.items()
        ]
        return replace(found, classifiers=(found.classifiers[0], *further))


def study_of(methods: str, seeds: int, half: int, folder: Path) -> McilStudy:
    """The study of `seqsearch demo mcil`, whose states are evaluated three times."""
    pool = f"{POOL},half={half}"
    settings = McilSettings(methods=methods, pool=pool, classes=16, experiences=4, seeds=seeds)
    study = prepare(settings, folder / "states", "cpu")
    world = replace(study.world, scenario=f"{Path(__file__).resolve()}:AllTexts", cache=str(folder / "cache"))
    items = parse_items(settings.methods, "method")
    return replace(study, world=world, methods=tuple(world.spec(item, settings.backbone) for item in items))


def averages(study: McilStudy, evaluator: InlineEvaluator, method: MethodSpec) -> NDArray[np.float64]:
    """Avg of a method by run and texts ``[seeds, 3]``.

    Raises:
        RuntimeError: a training failed.
    """
    found = []
    for number in range(study.settings.seeds):
        results, _ = learned(evaluator, method, study.order(number), study.replicates(number)[0], "test")
        if results[-1].status != "ok":
            raise RuntimeError(f"{method.label}: {results[-1].message}")
        found.append([metrics.average([balanced(r, which) for r in results]) for which in range(len(TEXTS))])
    return np.array(found)


def balanced(result: EdgeResult, number: int) -> float:
    """Balanced accuracy of one classifier after an experience, over all classes seen."""
    n = [images for task in result.judged for images in task]
    return metrics.balanced(n, [right for task in result.classifiers[number].correct for right in task])


def rows_of(by_method: dict[str, NDArray[np.float64]]) -> list[dict[str, Any]]:
    """A row for each method and kind of text; ``lost`` is Avg with whole texts minus Avg with these."""
    lost = {
        (method, number): over_runs(A[:, 0] - A[:, number], DIFFERENCE)
        for method, A in by_method.items()
        for number in range(1, len(TEXTS))
    }
    p = dict(zip(lost, holm([o.p for o in lost.values()]), strict=True))
    rows = []
    for method, A in by_method.items():
        for number, texts in enumerate(TEXTS):
            row = {"method": method, "texts": texts, **_over("average", over_runs(A[:, number], ACCURACY))}
            if number:
                row |= {**_over("lost", lost[method, number]), "p": float(p[method, number])}
            rows.append(row)
    return rows


def _over(name: str, o: OverRuns) -> dict[str, Any]:
    return {name: o.interval.value, f"{name}_low": o.interval.low, f"{name}_high": o.interval.high}


def text_alone(half: int) -> list[dict[str, Any]]:
    """Balanced accuracy of the classifier of test texts without a network, with whole and with class-free ones."""
    found: dict[str, list[float]] = {"full": [], "class-free": []}
    for seed in range(DRAWS):
        world = World(f"{POOL},half={half},seed={seed}", 0, "", "")
        every = world.class_ids(range(len(world.images.classes)))
        known, labels = world.rows(every, "train", "val", "reward")
        asked, truth = world.rows(every, "test")
        texts, tested = world.images.texts(known), world.images.texts(asked)
        for name, own in (("full", tested), ("class-free", class_free(texts, labels)(tested))):
            right = nearest_means(texts, labels, own) == truth
            n = np.bincount(truth)
            found[name].append(metrics.balanced(n, np.bincount(truth[right], minlength=len(n))))
    return [
        {"texts": name, "classes": len(every), **_over("accuracy", over_runs(values, ACCURACY))}
        for name, values in found.items()
    ]


def nearest_means(known: list[str], labels: NDArray[np.int64], asked: list[str]) -> NDArray[np.int64]:
    """The class of each text ``[n]`` whose mean of unit vectors of word counts is nearest by cosine."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(analyzer=words)
    learned_words = vectors.fit_transform(known).toarray()
    means = np.stack([learned_words[labels == c].mean(0) for c in range(labels.max() + 1)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    found: NDArray[np.int64] = (vectors.transform(asked).toarray() @ means.T).argmax(1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument(
        "--half", type=int, choices=(1, 2), default=1, help="of the pool's classes; 2: to choose settings"
    )
    parser.add_argument("--write", nargs="?", const="text_at_test", metavar="NAME", help="file in benchmarks/results")
    a = parser.parse_args()
    pin_threads()
    by_method = {}
    with tempfile.TemporaryDirectory() as folder:
        study = study_of(a.methods, a.seeds, a.half, Path(folder))
        evaluator = InlineEvaluator(study.world)
        for method in study.methods:
            by_method[method.label] = averages(study, evaluator, method)
            print(
                method.label,
                " ".join(f"{t} {v:.4f}" for t, v in zip(TEXTS, by_method[method.label].mean(0), strict=True)),
            )
    rows, alone = rows_of(by_method), text_alone(a.half)
    for row in (*rows, *alone):
        print("  ".join(f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    if a.write:
        write_rows(a.write, {"seeds": a.seeds, "half": a.half, "draws": DRAWS, "rows": rows, "text_alone": alone})


if __name__ == "__main__":
    main()
