"""The public functions of ``seqsearch``. `protocols.api.calls` does what they ask for."""

from __future__ import annotations

import dataclasses
import inspect
import os
import textwrap
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actors.options import EngineOptions
from protocols.api import calls
from protocols.api.calls import as_settings
from protocols.api.calls import cost as cost
from protocols.api.given import HERE, keywords
from protocols.api.run import Run
from protocols.api.summary import Summary
from protocols.evaluate.compare.agreement import agreement
from protocols.evaluate.compare.table import read_table
from protocols.running.protocol import Protocol, flags_of, of_command
from protocols.running.runtime import OPTIONS, TIME_BUDGET
from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.settings import HEADINGS, Group
from seqsearch.storage.inside import Inside

if TYPE_CHECKING:
    import pandas as pd

RunLike = str | Path | Run


def _command(function: Callable[..., Run]) -> Callable[..., Run]:
    """Give a function the signature and the help of its command: a keyword for each setting, flag and option."""
    own = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    protocols = of_command(function.__name__)
    known = {name: f for name, f in keywords(protocols).items() if f is None or not f.metadata.get("argument")}
    known |= {f.name: f for f in dataclasses.fields(EngineOptions) if f.name in OPTIONS}
    named = {p.name for p in own}
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_default(name, f))
        for name, f in [*known.items(), *dict.fromkeys(("time_budget", *HERE)).items()]
        if name not in named
    ]
    function.__doc__ = (inspect.getdoc(function) or "") + _help(known, protocols)
    vars(function)["__signature__"] = inspect.Signature([*own, *more], return_annotation="Run")
    return function


def _default(name: str, f: dataclasses.Field[Any] | None) -> Any:
    """None stands for the default of the command, also where the signature shows it."""
    return None if f is None or name in OPTIONS else f.default


def _help(known: Mapping[str, dataclasses.Field[Any] | None], protocols: Sequence[Protocol]) -> str:
    """The help of the command line for each keyword, under its headings."""
    groups: dict[str, Group] = {"time_budget": "where", "quiet": "output", "callbacks": "output", "out": "first"}
    texts = {"time_budget": TIME_BUDGET, **HERE}
    flags = flags_of(protocols)
    hints = dict[str, Any]()
    for record in (EngineOptions, *(p.settings for p in protocols)):
        hints |= typing.get_type_hints(record)
    for name, f in known.items():
        if f is None:
            groups[name], texts[name], choices = "first", flags[name].help, flags[name].choices
        else:
            groups[name], texts[name] = f.metadata["group"], f.metadata["help"]
            choices = typing.get_args(hints[name]) if typing.get_origin(hints[name]) is typing.Literal else ()
        texts[name] += f" One of {', '.join(choices)}." if choices else ""
    lines = ["", "", "Keywords, with the help of the command line:"]
    for group, heading in HEADINGS.items():
        lines += [f"    {heading}:"] if group in groups.values() else []
        for name in (n for n in [*known, "time_budget", *HERE] if groups[n] == group):
            lines += textwrap.wrap(
                f"{name}: {' '.join(texts[name].split())}", 116, initial_indent=" " * 8, subsequent_indent=" " * 12
            )
    return "\n".join(lines) + "\n"


@_command
def cldyb(**settings: Any) -> Run:
    """Build, step by step, a task sequence that is hard for the given methods, and score it against random ones (CLDyB).

    Args:
        settings: ``methods``, ``pool``, ``tasks`` and all other flags of ``seqsearch cldyb`` without dashes; options of the
            run such as ``workers``, ``device`` and ``time_budget``; ``out``, ``quiet`` and ``callbacks``. Methods and pools
            are texts as on the command line, classes, lists of these, or ``{name: {parameter: value}}``.

    Raises:
        UserError: bad input, before anything is computed; a method fails on all candidates of a step.
        Interrupted: Ctrl-C. The run can be resumed.

    Example:
        >>> import seqsearch as ss
        >>> run = ss.cldyb(methods="simplecil", pool="glyphs:classes=12", tasks=2, classes_per_task=2, workers=0, quiet=True)
        >>> run.matrix("simplecil").shape
        (2, 2)
    """
    return calls.call("cldyb", settings, Run)


@_command
def edge(**settings: Any) -> Run:
    """Train methods on the hard, the easy and random class sequences, and estimate the distribution of accuracies (EDGE).

    Args:
        settings: as of `cldyb`, with the flags of ``seqsearch edge``; ``plan_only=True`` trains nothing.

    Raises:
        UserError, Interrupted: as `cldyb`.

    Example:
        >>> import seqsearch as ss
        >>> run = ss.edge(methods="simplecil", pool="glyphs:classes=6", tasks=2, random_sequences=5, workers=0, quiet=True)
        >>> "estimates" in run.tables
        True
    """
    return calls.call("edge", settings, Run)


@_command
def gtep(**settings: Any) -> Run:
    """Tune methods on one pool and evaluate them on others (GTEP).

    Args:
        settings: as of `cldyb`, with the flags of ``seqsearch gtep``: ``tune_pool``, ``pool``, ``trials`` and others.

    Raises:
        UserError, Interrupted: as `cldyb`.

    Example:
        >>> import seqsearch as ss
        >>> half = "glyphs:classes=12,half={}"
        >>> run = ss.gtep(methods="ranpac", tune_pool=half.format(1), pool=half.format(2), tasks=2, orders=1, trials=2,
        ...     eval_orders=1, workers=0, quiet=True)
        >>> run.df("table").method_id.tolist()
        ['ranpac']
    """
    return calls.call("gtep", settings, Run)


@_command
def online(**settings: Any) -> Run:
    """Learn a stream online, and report near-future accuracy free of label correlation beside online accuracy.

    Args:
        settings: as of `cldyb`, with the flags of ``seqsearch online``: ``stream``, ``shift``, ``windows`` and others. A class
            may stand for a learner or a stream.

    Raises:
        UserError, Interrupted: as `cldyb`.

    Example:
        >>> import seqsearch as ss
        >>> run = ss.online(methods="ncm", stream="glyphs:samples=1000", shift=128, workers=0, quiet=True)
        >>> run.status
        'finished'
    """
    return calls.call("online", settings, Run)


@_command
def mcil(**settings: Any) -> Run:
    """Learn image-text pairs class-incrementally, and report what each modality contributes (MCIL).

    Args:
        settings: as of `cldyb`, with the flags of ``seqsearch mcil``: ``experiences``, ``classes``, ``orders`` and others.

    Raises:
        UserError, Interrupted: as `cldyb`.

    Example:
        >>> import seqsearch as ss
        >>> run = ss.mcil(methods="ranpac", backbone="glyph_vit", pool="glyphs:classes=8", classes=4, experiences=2, seeds=2,
        ...     workers=0, quiet=True)
        >>> "experiences" in run.tables
        True
    """
    return calls.call("mcil", settings, Run)


@_command
def score(source: str | Path | Run, **settings: Any) -> Run:
    """Score methods on the sequences of a run, or of a file; only what is new is trained.

    Args:
        source: a run, or a file of class names (Parquet, JSON, CSV), or ``frozen:NAME``.
        settings: as of `cldyb`, with the flags of ``seqsearch score``: ``references=True`` adds joint training and the nearest
            class mean of frozen features.

    Raises:
        UserError, Interrupted: as `cldyb`.

    Example:
        >>> import seqsearch as ss
        >>> found = ss.cldyb(methods="simplecil", pool="glyphs:classes=12", tasks=2, classes_per_task=2, workers=0, quiet=True)
        >>> ss.score(found, methods="ranpac:M=64", workers=0, quiet=True).command
        'score'
    """
    return calls.call("score", {**as_settings("score", [source]), **settings}, Run)


@_command
def explain(source: str | Path | Run, **settings: Any) -> Run:
    """Explain why the found sequences of a run are hard: by their classes, their grouping, or the order of tasks.

    Args:
        source: a run.
        settings: as of `cldyb`, with the flags of ``seqsearch explain``.

    Raises:
        UserError, Interrupted: as `cldyb`.

    Example:
        >>> import seqsearch as ss
        >>> found = ss.cldyb(methods="simplecil", pool="glyphs:classes=12", tasks=3, classes_per_task=2, workers=0, quiet=True)
        >>> ss.explain(found, draws=3, bound=False, workers=0, quiet=True).command
        'explain'
    """
    return calls.call("explain", {**as_settings("explain", [source]), **settings}, Run)


@_command
def duel(a: Any, b: Any, **settings: Any) -> Run:
    """Pair two methods over random task sequences: which is more accurate, how often, by how much.

    Args:
        a, b: methods: a text as on the command line, or a class.
        settings: as of `cldyb`, with the flags of ``seqsearch duel``: ``sequences``, ``find``, ``on``.

    Raises:
        UserError, Interrupted: as `cldyb`.

    Example:
        >>> import seqsearch as ss
        >>> run = ss.duel("ranpac:M=64", "simplecil", pool="glyphs:classes=12", tasks=2, classes_per_task=2, sequences=6,
        ...     workers=0, quiet=True)
        >>> len(run.sequences()) >= 6
        True
    """
    return calls.call("duel", {**as_settings("duel", [a, b]), **settings}, Run)


def resume(run: str | Path | Run, **options: Any) -> Run:
    """Continue a run with its own settings; one that is finished is left as it is.

    Args:
        run: its folder, or a handle.
        options: ``workers``, ``device``, ``time_budget``, ``quiet``, ``callbacks`` and all other options that are no
            settings. ``methods`` is for a run whose methods are commands: they are started only if they are named again.

    Raises:
        UserError: no run, in use by another process, or what it needs has changed.
        Interrupted: Ctrl-C. The run can be resumed.

    Example:
        >>> import seqsearch as ss
        >>> small = dict(methods="simplecil", pool="glyphs:classes=12", tasks=2, classes_per_task=2, workers=0, quiet=True)
        >>> run = ss.cldyb(**small)
        >>> ss.resume(run, workers=0, quiet=True).status
        'finished'
    """
    return calls.resume(Run(run).path, options, Run)


def compare(*runs: RunLike | Sequence[RunLike], reference: str = "", table: str | Path | None = None) -> Summary:
    """Put runs beside each other, or the columns of a table of accuracies. Nothing is trained.

    Args:
        runs: runs, or a list of runs, that share pool, seed, first task and lengths, or that differ in their seed alone.
        reference: column that all others are correlated with; empty: held-out data, or the last column of the table.
        table: a CSV file, methods in rows, in place of runs.

    Returns:
        Headline, tables and notes.

    Raises:
        UserError: runs that cannot be compared, or a file that is no such table.

    Example:
        >>> import seqsearch as ss
        >>> small = dict(methods="simplecil", pool="glyphs:classes=12", tasks=2, classes_per_task=2, workers=0, quiet=True)
        >>> ss.compare(ss.cldyb(**small), ss.cldyb(**small, difficulty="easy")).headline != ""
        True
    """
    if bool(runs) == (table is not None):
        raise UserError("name runs to compare, or table=FILE.csv, one of the two")
    if table is not None:
        from protocols.report.compare.view import view_of_table

        read = read_table(at_home(table))
        return Summary(view_of_table(read, agreement(read, reference)))
    from protocols.evaluate.compare.comparison import compare as compared
    from protocols.report.compare.view import view

    return Summary(view(compared(tuple(r.path for r in _handles(runs)), reference)))


def assess(
    *runs: RunLike | Sequence[RunLike], pool: str | None = None, images: int = 20, latency: bool = False
) -> Summary:
    """Assess the methods of runs in several respects: accuracy, retention, robustness, memory, time.

    Args:
        runs: runs, or a list of runs, that share pool, seed, first task and lengths: one that searched for several methods
            together, one with ``separate=True``, and scores of further methods on their sequences.
        pool: where the images of the runs lie now, if elsewhere.
        images: of a class, for the similarity of tasks; 0: no image is read.
        latency: measure passes and latency, for which each method learns a found sequence from few images.

    Returns:
        Headline, table and notes.

    Raises:
        UserError: runs that cannot be assessed together, or without found sequences.

    Example:
        >>> import seqsearch as ss
        >>> small = dict(methods="simplecil", pool="glyphs:classes=12", workers=0, quiet=True)
        >>> ss.assess(ss.cldyb(**small, tasks=2, classes_per_task=2), images=0).headline != ""
        True
    """
    from protocols.evaluate.assess.assessment import Wanted
    from protocols.evaluate.assess.assessment import assess as assessed
    from protocols.report.assess.view import view
    from seqsearch.training.device import device_here

    wanted = Wanted(pool, images, device_here(None), latency)
    return Summary(view(assessed(tuple(r.path for r in _handles(runs)), wanted)))


def open(path: str | Path | Run) -> Run:
    """A handle on a run: running, stopped, moved, or written by an older version.

    Raises:
        UserError: the folder is no run.

    Example:
        >>> import seqsearch as ss
        >>> made = ss.cldyb(methods="simplecil", pool="glyphs:classes=12", tasks=2, classes_per_task=2, workers=0, quiet=True)
        >>> ss.open(made.path) == made
        True
    """
    return Run(path)


def runs(folder: str | Path = "runs") -> list[Run]:
    """The runs in a folder, by name; folders that are no runs are left out. The folder may be a run itself.

    Raises:
        UserError: the folder does not exist.

    Example:
        >>> import seqsearch as ss
        >>> made = ss.cldyb(methods="simplecil", pool="glyphs:classes=12", tasks=2, classes_per_task=2, workers=0, quiet=True)
        >>> made in ss.runs("runs")
        True
    """
    root = at_home(folder) if isinstance(folder, str | os.PathLike) else None
    if root is None or not root.is_dir():
        raise UserError(f"there is no folder {folder}")
    there = sorted(p for p in root.iterdir() if p.is_dir() and not p.is_symlink())
    return [Run(p) for p in (root, *there) if Inside(p).has("config.json") or Inside(p).has("journal.jsonl")]


def runs_df(*runs: RunLike | Sequence[RunLike], table: str = "results") -> pd.DataFrame:
    """One table of several runs, one below the other, with a column ``run`` that has the path of each.

    Args:
        runs: runs, or a list of runs, that have the table.
        table: name of the table, see `Run.tables`.

    Raises:
        UserError: no runs, one without this table, or pandas is not installed.

    Example:
        >>> import seqsearch as ss
        >>> small = dict(methods="simplecil", pool="glyphs:classes=12", tasks=2, classes_per_task=2, workers=0, quiet=True)
        >>> ss.runs_df(ss.cldyb(**small), ss.cldyb(**small, seed=1)).run.nunique()
        2
    """
    if not runs:
        raise UserError("name one run or more")
    handles = _handles(runs)
    frames: Sequence[pd.DataFrame] = [r.df(table).assign(run=str(r.path)) for r in handles]
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def _handles(given: Sequence[Any]) -> list[Run]:
    """Handles on runs that were given one by one, or in a list."""
    return [Run(r) for part in given for r in (part if isinstance(part, list | tuple) else [part])]
