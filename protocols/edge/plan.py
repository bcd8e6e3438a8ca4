"""The extreme sequences of an EDGE study: found once, written into the run folder, read again on resume."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocols.edge.settings import EdgeSettings
from protocols.running.folder import write_json
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.typed import fits
from seqsearch.extremes.find import Extreme, find
from seqsearch.extremes.objective import Objective, Problem, labels_of, random_labels, tasks_of
from seqsearch.extremes.paper import PaperOptions
from seqsearch.results.schema import SEQUENCES
from seqsearch.results.tables import Row, read_rows
from seqsearch.similarity.matrix import Similarity
from seqsearch.storage.reading import json_object

if TYPE_CHECKING:
    from rich.console import RenderableType

FILE = "plan.json"
Classes = tuple[tuple[int, ...], ...]
"""Classes of each task, as positions among those in play."""
Run = Callable[..., Any]


@dataclass(frozen=True)
class ExtremesPlan:
    """The extremes of one similarity.

    Attributes:
        label: what the user called the similarity; ``source`` says what it is.
        digest: of the similarity and of all settings that decide the extremes.
        sizes: classes of each task.
        mean, sd: of the objective over random sequences; None where it is not defined (one task).
        hard, easy: most extreme first.
    """

    label: str
    source: str
    digest: str
    objective: str
    sizes: tuple[int, ...]
    mean: float | None
    sd: float | None
    hard: tuple[Extreme, ...]
    easy: tuple[Extreme, ...]


def plan(
    label: str, similarity: Similarity, sizes: Sequence[int], s: EdgeSettings, run: Run | None = None
) -> ExtremesPlan:
    """Find hard and easy sequences; ``run`` maps a function over independent restarts (default: one after the other).

    Raises:
        UserError: too many sequences for ``--planner exact``.
    """
    from threadpoolctl import threadpool_limits

    objective = objective_of(s)
    problem = Problem(similarity.values, sizes, objective)
    with threadpool_limits(1):  # as in workers: the last bits of a bound depend on the number of threads
        found = _both_ways(problem, s, run)
        mean, sd = problem.mean_random(), problem.sd_random(s.seed)
    low, high = tuple(found["hard"]), tuple(found["easy"])
    hard, easy = (low, high) if s.hard_end == "low" else (high, low)
    return ExtremesPlan(
        label, similarity.source, plan_digest(similarity, sizes, s), s.objective, tuple(sizes), mean, sd, hard, easy
    )


def _both_ways(problem: Problem, s: EdgeSettings, run: Run | None) -> dict[str, list[Extreme]]:
    return {
        direction: find(
            problem.similarity, problem.sizes, direction, planner=s.planner, objective=problem.objective,
            paper=paper_options(s), seed=s.seed, moves=s.moves or None, budget=s.budget or None, restarts=s.restarts,
            count=s.extremes, diversity=s.diversity, run=run,
        )
        for direction in ("hard", "easy")
    }  # fmt: skip


def objective_of(s: EdgeSettings) -> Objective:
    """What is made extreme."""
    return Objective.named(s.objective, s.lag_weights() if s.objective == "lags" else None)


def paper_options(s: EdgeSettings) -> PaperOptions:
    """How ``--planner paper`` reads the paper."""
    return PaperOptions(
        linkage=s.paper_linkage,
        granularities=s.granularities(),
        greedy=s.paper_greedy,
        easy=s.paper_easy,
        split=s.paper_split,
    )


def plan_digest(similarity: Similarity, sizes: Sequence[int], s: EdgeSettings) -> str:
    """Identity of a plan: of what it was made from."""
    decides = (
        s.objective, s.lags, s.hard_end, s.planner, s.moves, s.budget, s.restarts, s.extremes, s.diversity, s.paper_linkage,
        s.paper_greedy, s.paper_easy, s.paper_split, s.paper_granularities, s.seed,
    )  # fmt: skip
    return digest_of("plan", similarity.digest, list(sizes), decides)


def score(similarity: Similarity, sizes: Sequence[int], s: EdgeSettings) -> Callable[[Classes], float | None]:
    """The objective of a sequence."""
    problem = Problem(similarity.values, sizes, objective_of(s))
    return lambda tasks: problem.score(labels_of(tasks))


def random_tasks(sizes: Sequence[int], seed: int, number: int) -> Classes:
    """A random sequence."""
    return tasks_of(random_labels(sizes, seed, number), len(sizes))


# ------------------------------------------------------------------------------------------------ file


def write_plans(folder: Path, plans: Sequence[ExtremesPlan]) -> None:
    """Into ``plan.json``."""
    said = [asdict(p) for p in plans]
    write_json(folder / FILE, {"plans": [{**p, "checksum": _checksum(p)} for p in said]})


def read_plans(folder: Path) -> list[ExtremesPlan]:
    """Those of ``plan.json``; none if there is no such file.

    Raises:
        UserError: it is damaged.
    """
    path = folder / FILE
    if not path.exists():
        return []
    said = json_object(path, most=1 << 30)
    try:
        return [_plan(p) for p in said["plans"]]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not as it was written ({error}): remove it to have it planned again") from None


def _checksum(said: dict[str, Any]) -> str:
    return digest_of("plan", json.loads(json.dumps(said)))


def _plan(said: dict[str, Any]) -> ExtremesPlan:
    said = dict(said)
    if said.pop("checksum", None) != _checksum(said):
        raise ValueError("its checksum says that it was changed")
    extremes = {side: tuple(_extreme(e) for e in said[side]) for side in ("hard", "easy")}
    made = ExtremesPlan(**{**said, "sizes": tuple(said["sizes"]), **extremes})
    n = sum(made.sizes)
    for e in (*made.hard, *made.easy):
        if [len(t) for t in e.tasks] != list(made.sizes) or sorted(c for t in e.tasks for c in t) != list(range(n)):
            raise ValueError("a sequence that is no partition of the classes")
    if not made.hard or not made.easy or not fits(made.digest, str):
        raise ValueError("no sequences, or of what")
    return made


def _extreme(said: dict[str, Any]) -> Extreme:
    return Extreme(**{**said, "tasks": tuple(tuple(int(c) for c in task) for task in said["tasks"])})


# ------------------------------------------------------------------------------------------------ words


def render(p: ExtremesPlan, random: Sequence[float | None]) -> RenderableType:
    """A table: each extreme, its bound and how near to it, and what it took."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="")
    for name in ("sequence", "S", "bound", "of the way to it", "beyond random", "planner", "moves", "seconds"):
        table.add_column(name, justify="left" if name in ("sequence", "planner") else "right")
    for kind, extremes in (("hard", p.hard), ("easy", p.easy)):
        for i, e in enumerate(extremes):
            table.add_row(
                f"{kind}-{i}", number(e.value), number(e.bound), way(p, e), beyond(p, e.value), e.planner, f"{e.moves:,}",
                f"{e.seconds:.2f}",
            )  # fmt: skip
    for i, value in enumerate(random):
        table.add_row(f"random-{i}", number(value), "", "", beyond(p, value), "", "", "")
    shape = f"{sum(p.sizes)} classes in {len(p.sizes)} tasks of {_sizes(p.sizes)}"
    about = f"similarity: {p.source}; {shape}; S ({p.objective}) of random sequences: "
    about += (
        "not defined, so that hard and easy mean nothing"
        if p.mean is None
        else f"mean {number(p.mean)}, sd {number(p.sd)}"
    )
    return Group(Text(about), Text(), table)


def number(value: float | None) -> str:
    """A score, or ``-``."""
    return "-" if value is None else f"{value + 0.0:.5g}"


def way(p: ExtremesPlan, e: Extreme) -> str:
    """How far from the random mean to the bound an extreme comes, in percent."""
    if p.mean is None or e.value is None or e.bound is None or e.bound == p.mean:
        return "-"
    if e.planner == "exact":
        return "optimal"
    return f"{100 * (e.value - p.mean) / (e.bound - p.mean):.0f} %"


def beyond(p: ExtremesPlan, value: float | None) -> str:
    """Distance from the random mean in standard deviations of random sequences."""
    if value is None or p.mean is None or not p.sd:
        return "-"
    return f"{(value - p.mean) / p.sd:+.1f} sd"


def _sizes(sizes: Sequence[int]) -> str:
    counts: list[list[int]] = []
    for m in sizes:
        if counts and counts[-1][0] == m:
            counts[-1][1] += 1
        else:
            counts.append([m, 1])
    return " + ".join(f"{times} x {m}" if times > 1 else str(m) for m, times in counts)


def show(folder: Path, as_json: bool) -> None:
    """Print the plan in a folder.

    Raises:
        UserError: there is none.
    """
    import sys

    from rich.console import Console

    plans = read_plans(folder)
    if not plans:
        raise UserError(f"{folder} holds no {FILE}: plan again into another --out")
    of = dict(map(_first_value, read_rows(folder / SEQUENCES.file, SEQUENCES)))
    random = [value for name, value in of.items() if name.startswith("random-")]
    if as_json:
        print(to_json(plans[0], random))
    else:
        Console(width=None if sys.stdout.isatty() else 120).print(render(plans[0], random[:1]))


def _first_value(row: Row) -> tuple[str, float | None]:
    return row["sequence_id"], row["value"]


def to_json(p: ExtremesPlan, random: Sequence[float | None]) -> str:
    """The plan, and the scores of the random sequences."""
    return json.dumps({**asdict(p), "random": list(random)})
