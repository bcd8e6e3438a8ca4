"""A page of every report, of runs that are made up here: no training, and everything in it that a report can draw."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from protocols.cldyb.protocol import CLDYB
from protocols.edge.fitted import MethodFit
from protocols.edge.plan import plan, write_plans
from protocols.edge.plan_settings import EdgePlanSettings
from protocols.edge.protocol import EDGE
from protocols.edge.results import EdgeResults
from protocols.evaluate.assess.assessment import Wanted, assess
from protocols.evaluate.assess.images import ImageFeatures, similarities, task_map
from protocols.evaluate.assess.inference import Inference
from protocols.evaluate.compare.comparison import compare as compared
from protocols.evaluate.duel.protocol import DUEL
from protocols.evaluate.explain.protocol import EXPLAIN
from protocols.evaluate.score.protocol import SCORE
from protocols.gtep.summary import summarise as summarise_gtep
from protocols.report.assess import view as assessed
from protocols.report.compare import view as compare
from protocols.report.duel import view as duel
from protocols.report.edge import view as edge
from protocols.report.explain import view as explain
from protocols.report.gtep import view as gtep
from protocols.report.mcil import view as mcil
from protocols.report.online import view as online
from protocols.report.page import write_page
from protocols.report.view import view_of
from protocols.running.protocol import Protocol
from seqsearch.features.geometry import unit_rows
from seqsearch.planners.replicates import of_given, of_order
from seqsearch.pools.base import Pool
from seqsearch.results.rows import TaskSequence
from seqsearch.results.schema import PLANS
from seqsearch.similarity.matrix import checked
from tests.unit.edge.test_fit import fits, planted
from tests.unit.evaluate.test_compare_runs import make as make_compared
from tests.unit.evaluate.test_compare_runs import pool_record
from tests.unit.report.gtep import rows as gtep_rows
from tests.unit.report.mcil import rows as mcil_rows
from tests.unit.report.online import rows as online_rows
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

SEEDS = (1000, 1001)
METHODS = ("er", "slca")
TASKS = [[0, 1], [2, 3], [4, 5]]
RANDOM = [[[0, 1], [10 + i, 3], [20 + i, 5]] for i in range(3)]


def accuracy(name: str, seed: int) -> float:
    """A final accuracy for each sequence and seed."""
    return float(np.random.default_rng([seed, *name.encode()]).uniform(0.3, 0.8))


def evaluated(s: TaskSequence, methods: Sequence[str], seeds: Sequence[int] = SEEDS) -> Iterator[Any]:
    """Of all methods with all seeds, each of them with accuracies of its own."""
    for m in methods:
        for seed in seeds:
            a = accuracy(s.sequence_id + m, seed)
            rows = [[0.9], [a, 0.8], [a - 0.1, a, 0.7]]
            yield rescored(s, m, seed, outcome(rows, [[0.9], [0.9, 0.85], [0.8, 0.8, 0.9]]))


def some(
    pool: Pool, found: Sequence[tuple[str, str, Sequence[str]]], methods: Sequence[str] = METHODS
) -> list[TaskSequence]:
    """Sequences that were found, ``(name, kind, methods)``, and three random ones."""
    named = [(name, kind, of, TASKS) for name, kind, of in found]
    named += [(f"random-{i}", "random", methods, tasks) for i, tasks in enumerate(RANDOM)]
    return [sequence(pool, name, kind, of, tasks) for name, kind, of, tasks in named]


def said_to_be(run: Path, protocol: str, **settings: Any) -> Path:
    """``config.json`` of a run of another protocol."""
    said: dict[str, Any] = json.loads((run / "config.json").read_text())
    said["protocol"], said["settings"] = protocol, {**said["settings"], **settings}
    (run / "config.json").write_text(json.dumps(said))
    return run


def _page(folder: Path, protocol: Protocol, run: Path, pool: Pool) -> Path:
    return write_page(folder / "report.html", view_of(protocol, protocol.read(run)), "seqsearch run", [pool])


def of_cldyb(folder: Path, pool: Pool) -> Path:
    made = some(pool, [("search-0", "searched", METHODS)])
    run = write_run(folder / "run", pool, made, [j for s in made for j in evaluated(s, METHODS)], METHODS)
    return _page(folder, CLDYB, run, pool)


def of_score(folder: Path, pool: Pool) -> Path:
    made = some(pool, [("search-0", "searched", METHODS), ("own", "given", METHODS), ("easy-0", "easy", METHODS)])
    made.append(sequence(pool, "heldout-0", "heldout", METHODS, TASKS))
    run = write_run(folder / "run", pool, made, [j for s in made for j in evaluated(s, METHODS)], METHODS)
    said = json.loads((said_to_be(run, "score") / "config.json").read_text())
    methods = {m: {"backbone": "b", "digest": m, "params": {}} for m in METHODS}
    said["identity"] |= {"methods": methods, "taken_over": {}, "references": {}, "known": {}, "remarks": []}
    (run / "config.json").write_text(json.dumps(said))
    return _page(folder, SCORE, run, pool)


def of_explain(folder: Path, pool: Pool) -> Path:
    made = some(pool, [("search-0", "searched", METHODS)])
    for kind in ("regrouped", "reordered"):
        made += [sequence(pool, f"search-0/{kind}-{i}", kind, METHODS, TASKS) for i in range(4)]
    run = write_run(folder / "run", pool, made, [j for s in made for j in evaluated(s, METHODS)], METHODS)
    said_to_be(run, "explain")
    read = EXPLAIN.read(run)
    return write_page(folder / "report.html", explain.view(read.summary, read.results), "seqsearch run", [pool])


def of_duel(folder: Path, pool: Pool) -> Path:
    made = some(pool, [("search-a", "searched", METHODS[:1]), ("search-b", "searched", METHODS[1:])])
    made.append(sequence(pool, "own", "given", METHODS, TASKS))
    rows = [j for s in made for j in evaluated(s, METHODS)]
    rows += [j for i, s in enumerate(made[2:5]) for j in evaluated(s, METHODS, [of_order(i)])]
    run = write_run(folder / "run", pool, made, rows, METHODS)
    said_to_be(run, "duel", find="both", sequences=3, score_seeds=2)
    read = DUEL.read(run)
    return write_page(folder / "report.html", duel.view(read.summary, read.results), "seqsearch run", [pool])


def of_edge(folder: Path, pool: Pool) -> Path:
    """Of a run with everything but ``--enumerate``."""
    return _edge(folder, pool, [])


def of_edge_with_the_truth(folder: Path, pool: Pool) -> Path:
    """Of one in which every sequence was trained."""
    every = [sequence(pool, f"every-{i}", "enumerated", ["er"], TASKS) for i in range(8)]
    return _edge(folder, pool, every)


def _edge(folder: Path, pool: Pool, more: Sequence[TaskSequence]) -> Path:
    made = some(pool, [("hard-0", "hard", ["er"]), ("easy-0", "easy", ["er"])], ["er"])
    given = [sequence(pool, name, "given", ["er"], TASKS) for name in ("rs-0", "rs-42", "own-0")]
    made = [replace(s, values=(accuracy(s.sequence_id, 0),) * 3) for s in (*made, *given, *more)]
    rows = [j for s in made for j in evaluated(s, ["er"]) if s.kind != "given"]
    rows += [
        j for i, s in enumerate(s for s in made if s.kind == "random") for j in evaluated(s, ["er"], [of_order(i)])
    ]
    rows += [j for i, s in enumerate(s for s in made if s.kind == "given") for j in evaluated(s, ["er"], [of_given(i)])]
    run = said_to_be(write_run(folder / "run", pool, made, rows, ["er"]), "edge")
    x = np.random.default_rng(0).normal(size=(len(pool.classes), 3))
    similarity = checked(x @ x.T, [f"c{i}" for i in range(len(x))], "x", "made up")
    small = checked(similarity.values[:6, :6], similarity.names[:6], "x", "made up")
    write_plans(run / PLANS, [plan("names", small, (2, 2, 2), EdgePlanSettings(planner="exact"))])
    read = EDGE.read(run)
    [m] = read.summary.methods
    [fit] = fits(er=planted(0.05))
    points = dict.fromkeys(("random", "hard", "easy"), ((0.5, 0.6), (0.6, 0.5)))
    summary = replace(read.summary, methods=(replace(m, fit=MethodFit(fit, (), points, 2)),))
    found: EdgeResults = replace(read.results, similarity=similarity)
    return write_page(folder / "report.html", edge.view(summary, found), "seqsearch run", [pool])


def of_gtep(folder: Path, pool: Pool) -> Path:
    made = gtep_rows.Made(("a", "b"), orders=2)
    for method, level in (("a", 0.5), ("b", 0.4)):
        made.tried(method, [[level, level + 0.1]] * 2)
        for use in ("tuned", "conventional", "original"):
            made.evaluated(method, [level, level + 0.1], use)
    found = made.results()
    return write_page(folder / "report.html", gtep.view(summarise_gtep(found)), "seqsearch run", [pool])


def of_mcil(folder: Path, pool: Pool) -> Path:
    s = mcil_rows.summary({"a": [[0.5, 0.6]], ("a", "text"): [[0.4, 0.3]], "b": [[0.7, 0.8]]})
    return write_page(folder / "report.html", mcil.view(s), "seqsearch run", [pool])


def of_online(folder: Path, pool: Pool) -> Path:
    choice = {"shifts": [0, 64, 128], "best": [0.9, 0.1, 0.004], "bound": [0.9, 0.2, 0.1], "plateau": 0.05}
    made = online_rows.Made(settings={"shift": "auto"}, said=choice)
    for name, levels in (("fifo", (0.8, 0.3, 0.2)), ("uniform", (0.5, 0.45, 0.6))):
        made.learner(name, *levels, seeds=2)
    made.baseline(0.9, 0.1)
    for form in ("batch", "sample"):
        for part in ("main", "search"):
            made.swept({(k, shift): 0.3 for k in (1, 10) for shift in (0, 128)}, part, form)
    made.curve("fifo", 0.3, "trace", 512)
    made.window("fifo", 512, (0.75, 0.5, 0.25, 0.625))
    s = made.summary()
    return write_page(folder / "report.html", online.view(s), "seqsearch run", [pool])


def of_compare(folder: Path, pool: Pool) -> Path:
    """Of two runs, one of them on a pool that grew."""

    def grow(said: dict[str, Any]) -> None:
        said["identity"]["pools"].append(pool_record(glyphs(20), 2))

    runs = [make_compared(folder / "full", [[2, 3]]), make_compared(folder / "grown", [[4, 5]], 0.1, grow)]
    (folder / "out").mkdir()
    return compare.write_folder(folder / "out", compared(runs))[0]


def of_one_run(folder: Path, pool: Pool) -> Path:
    """Compared with nothing."""
    (folder / "out").mkdir()
    return compare.write_folder(folder / "out", compared([make_compared(folder / "full", [[2, 3]])]))[0]


def of_assess(folder: Path, pool: Pool) -> Path:
    """Of a run that searched for both methods together and for each alone; features and latencies are made up."""
    own = [("search-0-er", METHODS[:1], TASKS), ("search-0-slca", METHODS[1:], RANDOM[0])]
    made = [sequence(pool, name, "searched", of, tasks) for name, of, tasks in (("search-0", METHODS, TASKS), *own)]
    run = write_run(folder / "run", pool, made, [j for s in made for j in evaluated(s, METHODS)], METHODS)
    rng = np.random.default_rng(0)
    of_class = {c: unit_rows(rng.normal(size=(5, 8))) for s in made for t in s.tasks for c in t.classes}
    features = ImageFeatures("glyph_vit", 5, of_class)
    a = assess([run], Wanted(images=0))
    a = replace(
        a,
        methods=tuple(replace(m, inference=Inference(1.0 + i, 0.002 + 0.001 * i, 32)) for i, m in enumerate(a.methods)),
        images=features,
        alike=similarities(features, a.own),
        maps={name: task_map(features, s[0]) for name, s in (("common", a.common), *a.own.items())},
    )
    return write_page(folder / "assess.html", assessed.view(a), "seqsearch assess")


PAGES: dict[str, tuple[Callable[[Path, Pool], Path], ...]] = {
    "cldyb": (of_cldyb,), "edge": (of_edge, of_edge_with_the_truth), "gtep": (of_gtep,), "mcil": (of_mcil,),
    "online": (of_online,), "score": (of_score,), "explain": (of_explain,), "duel": (of_duel,),
    "compare": (of_compare, of_one_run), "assess": (of_assess,),
}  # fmt: skip
"""By the folder of ``protocols/report`` that writes them."""


def written(name: str, folder: Path, pool: Pool | None = None) -> list[str]:
    """Pages of a report, whose images are of ``pool`` (glyphs)."""
    pages = []
    for i, make in enumerate(PAGES[name]):
        (folder / str(i)).mkdir(parents=True)
        pages.append(make(folder / str(i), pool or glyphs()).read_text("utf-8"))
    return pages
