"""The metrics of a run for experiment trackers, read from its journal and its Parquet files. Nothing in its folder is written.

The name of a metric has levels with slashes between them. Labels of methods, sequences and rows are untrusted text: a slash, a
percent sign and each invisible character in them is percent-encoded, as in a URL. So a label is one level, and different labels
stay different.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from protocols.report.plain import plain, texts_changed
from protocols.report.site.command import without_folders
from protocols.report.table import Table
from protocols.report.view import protocol_of, view_of
from protocols.running.protocol import Protocol
from protocols.running.status import State, status
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import shows
from seqsearch.engine.journal import NAME as JOURNAL
from seqsearch.engine.journal_lines import LONGEST, Entry, understood
from seqsearch.results.run import RunResults, read_config, read_results
from seqsearch.results.schema import RESULTS
from seqsearch.stats.accuracy import acc
from seqsearch.storage.inside import Inside


@dataclass(frozen=True)
class Metric:
    """A value under a name; ``step``: the task, from 1, for a point of a curve, else 0."""

    name: str
    value: float
    step: int = 0


@dataclass(frozen=True)
class RunMetrics:
    """The metrics of a run, and all else that trackers get of it.

    Attributes:
        run: its name.
        key: the same for the same run whenever it is published, also after a resume.
        state: how far it came.
        config: its settings, the values of all parameters of methods, and versions of libraries.
        metrics: no two have the same name and step.
    """

    run: str
    key: str
    state: State
    config: dict[str, Any]
    metrics: tuple[Metric, ...]

    @property
    def names(self) -> list[str]:
        """Names of metrics, each once."""
        return list(dict.fromkeys(m.name for m in self.metrics))


def metrics_of(run: Path) -> RunMetrics:
    """The metrics of a run in any state. One that has exported nothing has those of its journal alone.

    Raises:
        UserError: it is no run, or a file of a finished run is damaged.
    """
    protocol, config, now = protocol_of(run), read_config(run), status(run)
    try:
        exported = list(_exported(run, protocol))
    except UserError:  # nothing was exported, or the export is under way
        if now.state == "finished":
            raise
        exported = []
    return RunMetrics(
        now.run,
        digest_of(*(config.get(name) for name in ("protocol", "run_id", "created"))),
        now.state,
        _settings(config),
        (*exported, *_progress(run)),
    )


def level(label: str) -> str:
    r"""A label as one level of a name.

    >>> level("ranpac:M=64"), level("a/b"), level("100%\n")
    ('ranpac:M=64', 'a%2Fb', '100%25%0A')
    """
    return "".join(c if shows(c) and c not in "%/" else quote(c, "", errors="surrogatepass") for c in label)


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    identity = config.get("identity")
    versions = identity.get("versions") if isinstance(identity, dict) else None
    chosen = {name: config.get(name) for name in ("protocol", "settings", "hyperparameters")}
    found: dict[str, Any] = texts_changed(plain({**chosen, "versions": versions}), without_folders)
    return {name: value for name, value in found.items() if value}


# ------------------------------------------------------------------------------------------------ what was exported


def _exported(run: Path, protocol: Protocol) -> Iterator[Metric]:
    for table in view_of(protocol, protocol.read(run)).key:
        yield from _cells(table)
    if RESULTS.file in protocol.exports and Inside(run).has(RESULTS.file):
        results = read_results(run)
        yield from _curves(results)
        for row in results.trace:
            if row["chosen"] and row["value"] is not None and math.isfinite(row["value"]):
                yield Metric(f"search/{level(row['search_id'])}/J", row["value"], row["step"])


def _cells(table: Table) -> Iterator[Metric]:
    """The numbers of a table, in its unit for files: ``TABLE/ROW/COLUMN``, and ``.../low`` and ``.../high`` of an interval."""
    keys = iter(table.keys)
    columns = [(c, [level(k) for k in itertools.islice(keys, len(c.keys))]) for c in table.columns]
    for row, label in zip(table.rows, _labels(table), strict=True):
        for (column, names), value in zip(columns, row, strict=True):
            if column.over and not column.parts:
                names = [names[0], f"{names[0]}/low", f"{names[0]}/high"]
            for name, number in zip(names, column.plain(value), strict=True):
                if number is not None and not isinstance(number, str):
                    yield Metric(f"{table.name}/{label}/{name}", float(number))


def _labels(table: Table) -> list[str]:
    """The rows by the texts that they begin with; one that came before has a number behind it."""
    found: list[str] = []
    for row in table.rows:
        label = level(", ".join(map(str, itertools.takewhile(lambda v: isinstance(v, str), row))))
        numbered = (f"{label}-{n}" for n in itertools.count(2))
        name = label or "1"
        while name in found:
            name = next(numbered)
        found.append(name)
    return found


def _curves(results: RunResults) -> Iterator[Metric]:
    """Accuracy over the classes seen after each task (Acc_t), by method and kind of sequence: the mean over sequences and
    training seeds that were evaluated to their end."""
    kinds = {s.sequence_id: s.kind for s in results.sequences}
    grouped: dict[tuple[str, str], list[Any]] = {}
    for (sequence, method, _), rollout in results.rollouts.items():
        if rollout.complete and kinds[sequence] != "joint":
            grouped.setdefault((method, kinds[sequence]), []).append(rollout.accuracy)
    for (method, kind), matrices in grouped.items():
        for t in range(1, max(map(len, matrices)) + 1):
            values = [acc(a, t) for a in matrices if len(a) >= t]
            yield Metric(f"curve/{level(method)}/{level(kind)}", sum(values) / len(values), t)


# ------------------------------------------------------------------------------------------------ the journal


def _progress(run: Path) -> Iterator[Metric]:
    """Of all sessions: trainings, their seconds, results (a method after one more task), and those that failed."""
    ended, failed = dict[str, str](), set[str]()
    trainings, seconds = 0, 0.0
    for entry in _journalled(run):
        result = entry.get("edge") or entry.get("probe") or {}
        if "edge" in entry:
            digest = result["digest"]
            if digest in ended:  # a second line on the same training says nothing new
                continue
            if result["status"] in ("ok", "diverged"):
                ended[digest] = result["status"]
            else:
                failed.add(digest)
            seconds += result["train_seconds"] if result["trained"] else 0.0
        trainings += len(result.get("trained", ()))
    diverged = sum(s == "diverged" for s in ended.values())
    yield Metric("journal/trainings", trainings)
    yield Metric("journal/training_seconds", seconds)
    yield Metric("journal/results", len(ended))
    yield Metric("journal/failed", diverged + len(failed - ended.keys()))


def _journalled(run: Path) -> Iterable[Entry]:
    """The lines of a journal. The last one may be torn, or just being written.

    Raises:
        UserError: it cannot be read, or has a line that is none.
    """
    here = Inside(run)
    if not here.has(JOURNAL):
        return
    try:
        with here.reader(JOURNAL) as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
                if len(line) <= LONGEST and not line.endswith(b"\n"):
                    return
                try:
                    yield understood(line)
                except ValueError as error:
                    raise UserError(
                        f"{run / JOURNAL}, line {number}: not a line of a journal ({error}); restore the file"
                    ) from None
    except OSError as error:
        raise UserError(f"{run / JOURNAL} cannot be read ({error.strerror}): restore it") from None
