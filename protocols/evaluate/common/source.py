"""Source of fixed sequences: a run with its results and settings, or a file."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from protocols.evaluate.common.settings import EvaluateSettings
from protocols.running.provenance import biases
from protocols.running.status import check_not_running
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.paths import at_home
from seqsearch.core.registry import located_text
from seqsearch.core.settings import StudySettings, defaults, flag
from seqsearch.core.text import counted, shown
from seqsearch.core.typed import brief, fits
from seqsearch.results.frozen import FrozenClass, is_frozen, pinned, several_frozen, source_path
from seqsearch.results.named import NamedSequence, read_named
from seqsearch.results.rows import SequenceKind, TaskSequence
from seqsearch.results.run import FOUND, RunResults, read_config, read_results, trained_nothing
from seqsearch.results.schema import SEQUENCES
from seqsearch.results.tables import read_sequences
from seqsearch.storage.inside import Inside
from seqsearch.storage.parquet_file import BadParquet, ParquetFile
from seqsearch.study.named import check_named
from seqsearch.study.run_settings import names_code, run_settings

S = TypeVar("S", NamedSequence, TaskSequence)
WHICH = {"found": FOUND, "random": ("random",)}
"""Kinds of sequences by ``--which``; of ``all`` those that are made of others are left out."""
MADE_OF_OTHERS = ("joint", "enumerated", "regrouped", "reordered")


@dataclass(frozen=True)
class Source:
    """Sequences as they were found.

    Attributes:
        sequences: with the classes that they had; of a file of names there are none.
        named: of a file of names, and wherever classes are to be taken by name.
        data: what the run measured; None for a file.
        biases: what makes figures on its sequences biased.
        classes: of frozen orders, which a pool may call otherwise (`seqsearch.results.class_aliases`).
        kinds: by name of the sequence, of frozen orders; others that are named are "given".
    """

    path: Path
    sequences: tuple[TaskSequence, ...] = ()
    named: tuple[NamedSequence, ...] = ()
    data: RunResults | None = None
    biases: tuple[str, ...] = ()
    classes: tuple[FrozenClass, ...] = ()
    kinds: Mapping[str, SequenceKind] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Identity of the sequences, and of what is known of them."""
        said = [(s.sequence_id, s.kind, list(s.method_ids), [t.digest for t in s.tasks]) for s in self.sequences]
        names = [(n.name, [list(task) for task in n.tasks]) for n in self.named]
        rows = self.data.rows if self.data else ()
        columns = ("sequence_id", "method_id", "seed", "trained_step", "evaluated_step", "accuracy", "config_digest")
        known = [tuple(row[name] for name in columns) for row in rows]
        return digest_of("source", said, names, known)

    @property
    def tuned(self) -> dict[str, Mapping[str, Any]]:
        """Hyperparameters by label that the run had chosen."""
        said = self.data.config.get("tuned") if self.data else None
        return {m: p for m, p in said.items() if isinstance(p, dict)} if isinstance(said, dict) else {}

    @property
    def surrogates(self) -> tuple[str, ...]:
        """Labels of the methods that the run searched with instead of those that it searched for."""
        said = self.data.config.get("identity") if self.data else None
        found = said.get("surrogates") if isinstance(said, dict) else None
        return tuple(map(str, found)) if isinstance(found, dict) else ()

    def renamed(self, labels: Mapping[str, str]) -> Source:
        """The same with other labels of methods."""
        if not labels or self.data is None:
            return self
        rows = tuple({**r, "method_id": labels.get(r["method_id"], r["method_id"])} for r in self.data.rows)
        rollouts = {(s, labels.get(m, m), r): found for (s, m, r), found in self.data.rollouts.items()}
        sequences = tuple(relabelled(s, labels) for s in self.sequences)
        return replace(self, sequences=sequences, data=replace(self.data, rows=rows, rollouts=rollouts))


def read_source(path: Path, which: str = "all", by_name: bool = False, *, one_length: bool = True) -> Source:
    """A run folder, a ``sequences.parquet``, a file of class names (`read_named`), or frozen orders (``frozen:NAME,...``).

    Raises:
        UserError: none of them, a run that is running or not finished, a damaged or foreign file, no sequence of those asked for.
    """
    if is_frozen(path):
        return _of_frozen(path, which)
    path = at_home(path)
    if path.is_dir():
        check_not_running(path)
        data = read_results(path)
        if not data.finished:
            raise UserError(f"run {path} is not finished: resume it first (seqsearch show {path} says how)")
        if data.config.get("protocol") == "gtep":
            from protocols.gtep.scenario import evaluates

            data = replace(data, sequences=tuple(s for s in data.sequences if evaluates(s.sequence_id)))
        sequences, file = data.sequences, path / SEQUENCES.file
    elif path.suffix == ".parquet" and _ours(path):
        data, sequences, file = None, tuple(read_sequences(path)), path
    else:
        if not path.exists():
            raise UserError(f"{path}: no such run folder or file")
        if which != "all":
            raise UserError(f"--which {which}: {path} does not say which sequences were found, and which are random")
        named = read_named(path)
        return Source(path, named=_one_length(path, named) if one_length else named)
    sequences, kinds = _one_length(path, sequences) if one_length else sequences, WHICH.get(which)
    kept = tuple(s for s in sequences if (s.kind in kinds if kinds else s.kind not in MADE_OF_OTHERS))
    if not kept:
        raise UserError(f"{path}: holds no {'' if which == 'all' else which + ' '}sequence to evaluate a method on")
    ids = {s.sequence_id for s in kept}
    named = tuple(n for n in read_named(file) if n.name in ids) if by_name else ()
    return Source(path, kept, named, data, tuple(biases(data.config)) if data else ())


def run_of(source: str, directory: Path, by_name: bool = False) -> Path | None:
    """The run that is named as a source and whose results are taken over with its sequences; None: there is none."""
    path = source_path(directory, source)
    return path if source and not by_name and not is_frozen(source) and path.is_dir() else None


def taken_over(settings: EvaluateSettings, directory: Path) -> Path | None:
    """See `protocols.running.protocol.Protocol.takes_over`."""
    return run_of(settings.source, directory, settings.by_name)


def _of_frozen(path: Path, which: str) -> Source:
    """Raises UserError: there are no such orders, or none of the kind that is asked for."""
    orders, kinds = several_frozen(path), WHICH.get(which)
    kept = [f for f in orders if not kinds or f.order.kind in kinds]
    if not kept:
        raise UserError(f"--which {which}: {path} is of another kind ({', '.join(f.order.kind for f in orders)})")
    of: dict[str, SequenceKind] = {s.name: f.order.kind for f in kept for s in f.sequences}
    named = tuple(s for f in kept for s in f.sequences)
    return Source(Path(pinned(str(path))), named=named, classes=kept[0].of.classes, kinds=of)


OfRun = Literal["never", "unless named", "beside named"]


def of_source(
    kind: type[EvaluateSettings], given: Mapping[str, Any], resumed: bool, *, methods: OfRun
) -> dict[str, Any]:
    """Settings with those of the source run that the user did not give.

    Args:
        methods: whether those of the run are evaluated, too.

    Raises:
        UserError: no source; a source beside ``--resume``; a run that does not say how it was made.
    """
    if resumed:
        if "source" in given:
            raise UserError("--resume continues a run with its own sequences: leave RUN out")
        return dict(given)
    if "source" not in given:
        raise UserError("name a RUN, or a file of sequences (.parquet, .json, .csv)")
    check_named(kind, given)
    return filled(kind, {**defaults(kind), **given}, set(given), methods=methods)


def filled(kind: type[StudySettings], values: Mapping[str, Any], named: set[str], *, methods: OfRun) -> dict[str, Any]:
    """Values of settings with those of the source run where they were not ``named`` by the user.

    Args:
        kind: the settings that they are for.
        methods: whether those of the run are evaluated, too.

    Raises:
        UserError: the source is no run or file, or its ``config.json`` is not as it was written.
    """
    if is_frozen(values["source"]):
        return {**values, "source": pinned(values["source"])}
    path = at_home(Path(values["source"]))
    if not path.exists():
        raise UserError(f"{path}: no such run folder or file")
    if path.is_dir() and Inside(path).has(SEQUENCES.file) and (why := trained_nothing(path, read_config(path))):
        raise UserError(why)
    said = run_settings(path) if path.is_dir() else {}
    hints = typing.get_type_hints(kind)
    fields = {f.name for f in dataclasses.fields(kind)} - {"source", *(("methods",) if methods == "never" else ())}
    taken = {n: v for n, v in said.items() if n in fields and n not in named}
    for name, value in taken.items():
        if not fits(value, hints[name]):
            raise UserError(f"{path}/config.json: {name} is {brief(value)}: restore it")
        if code := next((text for text in (value if isinstance(value, tuple) else (value,)) if names_code(text)), ""):
            raise UserError(
                f"{path} names code of its own, {shown(code)[:200]}: read it, and if you trust it name it yourself ({flag(name)})"
            )
    found = {**values, **taken}
    if methods == "beside named" and "methods" in named:
        found["methods"] = _together(path, values["methods"], said.get("methods", ""))
    if "weights" in taken:
        found["weights"] = _used(found)
    return found


def _together(path: Path, named: str, of_run: str) -> str:
    """Methods that were named, and those of the run that were not.

    Raises:
        UserError: those of the run are code.
    """
    items, here = parse_items(named, "method"), Path.cwd()
    known = {located_text(i.text, "method", here) for i in items}
    rest = [i.text for i in parse_items(of_run, "method") if i.text not in known] if of_run else []
    if code := [text for text in rest if names_code(text)]:
        raise UserError(
            f"{path} has methods of files of its own: name all methods yourself (--methods), also {shown(', '.join(code))[:200]}"
        )
    return ",".join([i.text for i in items] + rest)


def _used(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Weights of the run, of backbones that some method uses."""
    items = parse_items(values["methods"], "method") if values["methods"].strip() else []
    used = {i.backbone or values["backbone"] for i in items}
    return tuple(text for text in values["weights"] if text.partition("=")[0] in used)


def _ours(path: Path) -> bool:
    try:
        return "pool_digest" in ParquetFile(path).schema.names
    except (BadParquet, OSError) as error:
        said = getattr(error, "strerror", None) or error
        raise UserError(f"{path}: cannot be read ({said})") from None


def relabelled(s: TaskSequence, labels: Mapping[str, str]) -> TaskSequence:
    """A sequence with other labels of methods."""
    return replace(s, method_ids=tuple(labels.get(m, m) for m in s.method_ids))


def _one_length(path: Path, sequences: tuple[S, ...]) -> tuple[S, ...]:
    """Raises UserError: some sequences have more tasks than others; those that are made of others aside."""
    own = [s for s in sequences if not isinstance(s, TaskSequence) or s.kind != "joint"]
    lengths = {len(s.tasks): s.name if isinstance(s, NamedSequence) else s.sequence_id for s in own}
    if len(lengths) > 1:
        (a, first), (b, second) = list(lengths.items())[:2]
        raise UserError(
            f"{path}: sequence {first!r} has {counted(a, 'task')}, {second!r} {b}: evaluate those of one length at a time"
        )
    return sequences
