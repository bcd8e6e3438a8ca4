"""Runs that can be compared: properties that they must share, and evaluations of each method on each side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from protocols.cldyb.compared import Evaluated
from protocols.evaluate.compare.methods import compared, unlike
from protocols.running.provenance import PoolRecord, biases, provenance
from protocols.running.status import check_not_running
from protocols.running.unchanged import device_of
from seqsearch.core.errors import UserError
from seqsearch.core.settings import flag
from seqsearch.core.text import shown
from seqsearch.core.typed import brief
from seqsearch.core.types import Task
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import FOUND, RunResults, read_config, read_results

MOST_RUNS = 20
PROTOCOLS = ("cldyb", "edge", "score")
"""Whose runs are compared."""
FOLLOWS_SEED = ("seed", "first task", "split of the images")
"""Properties that runs of different seeds need not share."""
SIDES = {"found": FOUND, "easy": ("easy",), "random": ("random",), "held-out": ("heldout",)}
"""Kinds of sequences by what the side is called."""


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """A finished run.

    Attributes:
        name: unlike that of any other compared run.
        data: its methods are those that are compared.
        sizes: classes of each task of its sequences.
        first: the first task that all of its own sequences have; None where they have none in common (``edge``).
    """

    name: str
    path: Path
    data: RunResults
    pools: tuple[PoolRecord, ...]
    sizes: tuple[int, ...]
    first: Task | None

    def sequences(self, side: str, method: str) -> tuple[TaskSequence, ...]:
        """Of a side; the found ones are those searched for the method, or all if none was (a method that no search saw)."""
        of_kind = tuple(s for s in self.data.sequences if s.kind in SIDES[side])
        own = tuple(s for s in of_kind if method in s.method_ids) if side == "found" else ()
        return own or of_kind

    @property
    def remarks(self) -> list[str]:
        """Return the run's own remarks on its figures.

        They are biases of its sequences and, for a scored run, labels and names that may mislead.
        """
        identity = self.data.config.get("identity")
        said = identity.get("remarks") if isinstance(identity, dict) else None
        named = [r for r in said if isinstance(r, str)] if isinstance(said, list) else []
        return list(dict.fromkeys((*biases(self.data.config), *named)))

    @property
    def grown(self) -> tuple[PoolRecord, ...]:
        """Pools that came after the first step."""
        return tuple(p for p in self.pools if p.from_step > 1)


def read_runs(paths: Sequence[Path]) -> tuple[ComparedRun, ...]:
    """The runs, once they are known to be comparable: each with the first.

    Raises:
        UserError: no run, one that is running, not finished or comes twice, or two that differ in what all must share;
            which, in what.
    """
    if len(paths) > MOST_RUNS:
        raise UserError(f"{len(paths)} runs: at most {MOST_RUNS} can be compared at a time")
    resolved = [p.resolve() for p in paths]
    for i, path in enumerate(resolved):
        if path in resolved[:i]:
            raise UserError(f"run {paths[i]} is named twice: name each once")
    runs = [_read(p) for p in paths]
    names = [r.name for r in runs]
    if len(set(names)) < len(names):
        runs = [_named(r, str(r.path)) for r in runs]
    studies = are_studies(runs)
    for run in runs[1:]:
        _check_pair(runs[0], run, studies)
    return tuple(runs)


def are_studies(runs: Sequence[ComparedRun]) -> bool:
    """Whether no two runs have the same seed: then they must share all else, and are not compared pair by pair."""
    seeds = [r.data.setting("seed") for r in runs]
    return len(runs) > 1 and all(seed not in seeds[:i] for i, seed in enumerate(seeds))


def _named(r: ComparedRun, name: str) -> ComparedRun:
    return ComparedRun(name, r.path, r.data, r.pools, r.sizes, r.first)


def _read(path: Path) -> ComparedRun:
    protocol = read_config(path).get("protocol")
    if protocol not in PROTOCOLS:
        raise UserError(f"run {path} is of {brief(protocol)}: only runs of {', '.join(PROTOCOLS)} can be compared")
    check_not_running(path)
    data = read_results(path)
    if not data.finished:
        raise UserError(f"run {path} is not finished, and what it has so far is not compared: resume it first")
    held_out, joint = SIDES["held-out"], ("joint",)
    own = [s for s in data.sequences if s.kind not in (*held_out, *joint)]
    if not own:
        raise UserError(f"run {path} holds no task sequence to compare")
    if len({tuple(len(t.classes) for t in s.tasks) for s in own}) > 1:
        raise UserError(f"run {path}: its sequences have tasks of different sizes, so that they cannot be compared")
    firsts = {s.tasks[0] for s in own}
    elsewhere = {c.pool for s in data.sequences if s.kind in held_out for t in s.tasks for c in t.classes}
    used = {c.pool for s in own for t in s.tasks for c in t.classes}
    pools = tuple(p for p in _pools(path, data) if p.digest in used or p.digest not in elsewhere)
    sizes = tuple(len(t.classes) for t in own[0].tasks)
    data = replace(data, methods=compared(path, data))
    return ComparedRun(path.resolve().name, path, data, pools, sizes, firsts.pop() if len(firsts) == 1 else None)


def _pools(path: Path, data: RunResults) -> tuple[PoolRecord, ...]:
    try:
        return provenance(data.config).pools
    except UserError as error:
        raise UserError(f"run {path}: {error}") from None


def _check_pair(a: ComparedRun, b: ComparedRun, studies: bool) -> None:
    """Raises UserError: they do not share what every figure needs; of ``studies``, anything but the seed."""
    of_a, of_b = _shared(a), _shared(b)
    if studies:
        others = [n for n in of_a if n not in FOLLOWS_SEED and of_a[n] != of_b[n]] or _other_settings(a, b)
        others = others or _other_conditions(a, b)
        if others:
            seeds = f"{brief(of_a['seed'])} and {brief(of_b['seed'])}"
            raise UserError(
                f"runs {a.path} and {b.path} cannot be compared: they differ in seed ({seeds}) and in {', '.join(others)}; "
                "compare runs of the same --pool, --seed, --tasks and --classes-per-task, or that differ in --seed alone"
            )
        return
    for what, value in of_a.items():
        if value != of_b[what]:
            says = "" if what in ("first task", "pool") else f" ({brief(value)} and {brief(of_b[what])})"
            raise UserError(
                f"runs {a.path} and {b.path} cannot be compared: they differ in {what}{says}; compare runs of the same "
                "--pool, --seed, --tasks and --classes-per-task, or runs that differ in their seed alone"
            )


def _other_settings(a: ComparedRun, b: ComparedRun) -> list[str]:
    """Settings in which two runs differ; of an older run those that it knows. Methods go by their labels, pools by their digests,
    and runs of ``score`` score the sequences of a run of their own seed."""
    of_a, of_b = (s if isinstance(s := r.data.config.get("settings"), dict) else {} for r in (a, b))
    found = [
        flag(n) for n in of_a if n in of_b and of_a[n] != of_b[n] and n not in ("seed", "methods", "pool", "source")
    ]
    commands = {str(r.data.config.get("protocol")) for r in (a, b)}
    return found + ["--methods"] * (set(a.data.methods) != set(b.data.methods)) + ["command"] * (len(commands) > 1)


def _other_conditions(a: ComparedRun, b: ComparedRun) -> list[str]:
    """The device, or methods whose results are of other code, versions or the like: no effect of a seed."""
    on = [device_of(r.data.config.get("identity")) for r in (a, b)]
    if on[0] != on[1] and None not in on:
        return [f"device ({on[0]} and {on[1]})"]
    return [f"code, parameters, weights or versions of {shown(label)}" for label in unlike(a.data, b.data)]


def _shared(r: ComparedRun) -> dict[str, object]:
    """Return the properties that compared runs must share, by name, in the order of report."""
    first_classes = None if r.first is None else sorted((c.pool, c.index) for c in r.first.classes)
    return {
        "seed": r.data.setting("seed"),
        "number of tasks": len(r.sizes),
        "classes per task": list(r.sizes),
        "pool": sorted((p.digest, p.excluded_groups) for p in r.pools if p.from_step <= 1),
        "first task": first_classes,
        "split of the images": None if r.first is None else r.first.split,
    }


def evaluated(run: ComparedRun, method: str, side: str) -> Evaluated | None:
    """`evaluated_on` all sequences of a side."""
    return evaluated_on(run, method, run.sequences(side, method))


def evaluated_on(run: ComparedRun, method: str, sequences: tuple[TaskSequence, ...]) -> Evaluated | None:
    """Complete rollouts of a method on sequences; None if there are no seeds with which all are complete.

    Where the sequences have no common training seed (random ones of ``edge``), ``seeds`` is empty, and each row has the rollouts
    of seeds that no other sequence has, as `edge` itself reports them; of all its seeds if a sequence has none of its own.
    """
    common = run.data.complete(method, sequences)
    if common:
        seeds = tuple(sorted(common))
        rows = tuple(tuple(run.data.rollouts[s.sequence_id, method, r] for r in seeds) for s in sequences)
        return Evaluated(sequences, seeds, rows)
    of = [
        {r: found for r in run.data.seeds if (found := run.data.rollouts.get((s.sequence_id, method, r)))}
        for s in sequences
    ]
    if not of or not all(of) or not all(scored.complete for own in of for scored in own.values()):
        return None
    used = Counter(r for _, m, r in run.data.rollouts if m == method)
    alone = [{r: scored for r, scored in own.items() if used[r] == 1} for own in of]
    return Evaluated(sequences, (), tuple(tuple(own.values()) for own in (alone if all(alone) else of)))


def same_sequences(a: ComparedRun, b: ComparedRun, side: str) -> bool:
    """Whether both runs have the same sequences on a side, and some."""
    found = [[tuple(t.digest for t in s.tasks) for s in r.data.sequences if s.kind in SIDES[side]] for r in (a, b)]
    return bool(found[0]) and sorted(found[0]) == sorted(found[1])
