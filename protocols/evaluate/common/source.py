"""Source of fixed sequences: a finished run with its results and settings, a file of sequences, or frozen orders.

Frozen orders are the class orders of usual data sets that the package ships (`seqsearch.results.frozen`, ``frozen:NAME``). They
hold class names only, as a file of names does. The word has nothing to do with a frozen backbone.

`read_source` reads the sequences. `settings_for_source` and `fill_from_run` take settings that the user did not give from the
``config.json`` of the source run.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from protocols.evaluate.common.settings import EvaluateSettings
from protocols.running.protocol import protocols
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
from seqsearch.results.run import FOUND, RunResults, read_config, read_results, run_meant, trained_nothing
from seqsearch.results.schema import SEQUENCES
from seqsearch.results.tables import read_sequences
from seqsearch.storage.inside import Inside
from seqsearch.storage.parquet_file import BadParquet, ParquetFile
from seqsearch.study.named import check_named
from seqsearch.study.run_settings import refers_to_code, run_settings

WHICH = {"found": FOUND, "random": ("random",)}
"""Kinds of sequences that each value of ``--which`` selects. ``all`` selects every kind but `MADE_OF_OTHERS`."""
MADE_OF_OTHERS = ("joint", "enumerated", "regrouped", "reordered")
"""Kinds of sequences that a run derives from its other sequences."""


@dataclass(frozen=True)
class Source:
    """The sequences that were read, and what is known about them.

    Attributes:
        sequences: sequences whose classes are identified by pool and index. Empty for a file of names and for frozen orders.
        named: sequences whose classes are identified by name: those of a file of names, of frozen orders, and of any source
            that is read with ``by_name``. If it is not empty, it is used to place the sequences on the pool.
        data: results of the run; None if the source is no run folder.
        biases: why results on its sequences are biased, one text each.
        classes: classes of the frozen orders. A pool may have them under other names (`seqsearch.results.class_aliases`).
        kinds: for frozen orders, the kind of each sequence by its name. Other sequences that are identified by names have the
            kind "given".
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
        """Identity of the sequences, and of the results of the run on them."""
        said = [(s.sequence_id, s.kind, list(s.method_ids), [t.digest for t in s.tasks]) for s in self.sequences]
        names = [(n.name, [list(task) for task in n.tasks]) for n in self.named]
        rows = self.data.rows if self.data else ()
        columns = ("sequence_id", "method_id", "seed", "trained_step", "evaluated_step", "accuracy", "config_digest")
        known = [tuple(row[name] for name in columns) for row in rows]
        return digest_of("source", said, names, known)

    @property
    def tuned(self) -> dict[str, Mapping[str, Any]]:
        """Hyperparameters that the run chose, by method label."""
        said = self.data.config.get("tuned") if self.data else None
        return {m: p for m, p in said.items() if isinstance(p, dict)} if isinstance(said, dict) else {}

    @property
    def surrogates(self) -> tuple[str, ...]:
        """Labels of the methods that the run searched with in place of the methods that it searched for."""
        said = self.data.config.get("identity") if self.data else None
        found = said.get("surrogates") if isinstance(said, dict) else None
        return tuple(map(str, found)) if isinstance(found, dict) else ()

    def with_method_labels(self, labels: Mapping[str, str]) -> Source:
        """The same source, in which the results and sequences carry new method labels (``labels``: old to new)."""
        if not labels or self.data is None:
            return self
        rows = tuple({**r, "method_id": labels.get(r["method_id"], r["method_id"])} for r in self.data.rows)
        rollouts = {(s, labels.get(m, m), r): found for (s, m, r), found in self.data.rollouts.items()}
        sequences = tuple(sequence_with_method_labels(s, labels) for s in self.sequences)
        return replace(self, sequences=sequences, data=replace(self.data, rows=rows, rollouts=rollouts))


def read_source(path: Path, which: str = "all", by_name: bool = False, *, one_length: bool = True) -> Source:
    """Read a run folder, a ``sequences.parquet``, a file of class names (`read_named`), or frozen orders (``frozen:NAME,...``).

    Args:
        which: the value of ``--which``: ``all``, or a key of `WHICH`.
        by_name: read also the class names of the sequences (`Source.named`), so that they can be placed on a pool with other
            images. A file of names and frozen orders are always read by name.
        one_length: refuse sequences of different numbers of tasks.

    Raises:
        UserError: the path is none of these, the run is running or not finished, the file is damaged or of an unknown form, or
            the source has no sequence of the kind asked for.
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
    elif path.suffix == ".parquet" and _has_pool_digests(path):
        data, sequences, file = None, tuple(read_sequences(path)), path
    else:
        if not path.exists():
            raise _missing(path)
        if which != "all":
            raise UserError(f"--which {which}: {path} does not say which sequences were found, and which are random")
        named = read_named(path)
        if one_length:
            _check_one_length(path, named)
        return Source(path, named=named)
    if one_length:
        _check_one_length(path, sequences)
    kinds = WHICH.get(which)
    kept = tuple(s for s in sequences if (s.kind in kinds if kinds else s.kind not in MADE_OF_OTHERS))
    if not kept:
        raise UserError(f"{path}: holds no {'' if which == 'all' else which + ' '}sequence to evaluate a method on")
    ids = {s.sequence_id for s in kept}
    named = tuple(n for n in read_named(file) if n.name in ids) if by_name else ()
    return Source(path, kept, named, data, tuple(biases(data.config)) if data else ())


def _missing(path: Path) -> UserError:
    return UserError(f"{path}: no such run folder or file; {run_meant(path)}".rstrip("; "))


def run_of(source: str, directory: Path, by_name: bool = False) -> Path | None:
    """The folder of the run whose results are taken over together with its sequences.

    None if the source is empty, a file or frozen orders, or if classes are taken by name.
    """
    path = source_path(directory, source)
    return path if source and not by_name and not is_frozen(source) and path.is_dir() else None


def taken_over(settings: EvaluateSettings, directory: Path) -> Path | None:
    """See `protocols.running.protocol.Protocol.takes_over`."""
    return run_of(settings.source, directory, settings.by_name)


def _of_frozen(path: Path, which: str) -> Source:
    """Read frozen orders.

    Raises:
        UserError: there are no such orders, or none of the kind that ``which`` selects.
    """
    orders, kinds = several_frozen(path), WHICH.get(which)
    kept = [f for f in orders if not kinds or f.order.kind in kinds]
    if not kept:
        raise UserError(f"--which {which}: {path} is of another kind ({', '.join(f.order.kind for f in orders)})")
    kind_of: dict[str, SequenceKind] = {s.name: f.order.kind for f in kept for s in f.sequences}
    named = tuple(s for f in kept for s in f.sequences)
    return Source(Path(pinned(str(path))), named=named, classes=kept[0].of.classes, kinds=kind_of)


MethodsOfRun = Literal["never", "unless named", "beside named"]
"""Whether the methods of the source run are evaluated.

- "never": only the methods that the user gave.
- "unless named": the methods of the run, if the user gave no ``--methods``.
- "beside named": the methods that the user gave, and those of the run that the user did not give.
"""


def settings_for_source(
    settings_type: type[EvaluateSettings], given: Mapping[str, Any], resumed: bool, *, methods: MethodsOfRun
) -> dict[str, Any]:
    """Check that the user named a source, and complete the settings with defaults and with `fill_from_run`.

    Args:
        settings_type: the settings of the command.
        given: the settings that the user gave.
        resumed: the command continues a run (``--resume``); the settings that were given are then returned as they are.

    Raises:
        UserError: no source is named; a source is named beside ``--resume``; see `fill_from_run`.
    """
    if resumed:
        if "source" in given:
            raise UserError("--resume continues a run with its own sequences: leave RUN out")
        return dict(given)
    if "source" not in given:
        raise UserError("name a RUN, or a file of sequences (.parquet, .json, .csv)")
    check_named(settings_type, given)
    return fill_from_run(settings_type, {**defaults(settings_type), **given}, set(given), methods=methods)


def _check_whole_texts(run: Path) -> None:
    """Raises UserError: a run was evaluated with other texts than its images have, and its results would be mixed with others."""
    said = read_config(run).get("settings")
    texts = said.get("text_at_test") if isinstance(said, dict) else None
    if texts not in (None, "full"):
        raise UserError(
            f"run {run} was evaluated with --text-at-test {shown(str(texts))}, and this command evaluates with texts as they "
            "are: name a run without that option"
        )


def fill_from_run(
    settings_type: type[StudySettings], values: Mapping[str, Any], user_set: set[str], *, methods: MethodsOfRun
) -> dict[str, Any]:
    """Replace default values by the settings of the source run. A source that is no run folder changes nothing.

    Args:
        settings_type: the settings of the command.
        values: all settings, defaults included; ``source`` is the path or the frozen orders.
        user_set: names of the settings that the user gave; their values stay.

    Raises:
        UserError: the source is no run or file, the run trained nothing, its ``config.json`` is not as it was written, or a
            setting of it names code outside the package.
    """
    if is_frozen(values["source"]):
        return {**values, "source": pinned(values["source"])}
    path = at_home(Path(values["source"]))
    if not path.exists():
        raise _missing(path)
    if path.is_dir() and Inside(path).has(SEQUENCES.file) and (why := trained_nothing(path, read_config(path))):
        raise UserError(why)
    said = run_settings(path) if path.is_dir() else {}
    of = protocols().get(str(read_config(path).get("protocol"))) if path.is_dir() else None
    if of is not None and SEQUENCES.file not in of.exports:
        raise UserError(
            f"run {path} is of seqsearch {of.made_by} and has no task sequences: name a run of another command"
        )
    if path.is_dir():
        _check_whole_texts(path)
    hints = typing.get_type_hints(settings_type)
    fields = {f.name for f in dataclasses.fields(settings_type)} - {"source"}
    if methods == "never":
        fields -= {"methods"}
    taken = {n: v for n, v in said.items() if n in fields and n not in user_set}
    for name, value in taken.items():
        if not fits(value, hints[name]):
            raise UserError(f"{path}/config.json: {name} is {brief(value)}: restore it")
        if code := next(
            (text for text in (value if isinstance(value, tuple) else (value,)) if refers_to_code(text)), ""
        ):
            raise UserError(
                f"{path} names code of its own, {shown(code)[:200]}: read it, and if you trust it name it yourself ({flag(name)})"
            )
    found = {**values, **taken}
    if methods == "beside named" and "methods" in user_set:
        found["methods"] = _with_methods_of_run(path, values["methods"], said.get("methods", ""))
    if "weights" in taken:
        found["weights"] = _weights_in_use(found)
    return found


def _with_methods_of_run(path: Path, user_methods: str, run_methods: str) -> str:
    """The methods that the user gave, followed by the methods of the run that the user did not give.

    Raises:
        UserError: a method of the run is code outside the package.
    """
    items, here = parse_items(user_methods, "method"), Path.cwd()
    known = {located_text(i.text, "method", here) for i in items}
    rest = [i.text for i in parse_items(run_methods, "method") if i.text not in known] if run_methods else []
    if code := [text for text in rest if refers_to_code(text)]:
        raise UserError(
            f"{path} has methods of files of its own: name all methods yourself (--methods), also {shown(', '.join(code))[:200]}"
        )
    return ",".join([i.text for i in items] + rest)


def _weights_in_use(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Those ``--weights`` entries of the run whose backbone some method uses."""
    items = parse_items(values["methods"], "method") if values["methods"].strip() else []
    used = {i.backbone or values["backbone"] for i in items}
    return tuple(text for text in values["weights"] if text.partition("=")[0] in used)


def _has_pool_digests(path: Path) -> bool:
    """Whether a Parquet file is the ``sequences.parquet`` of a run, which identifies classes by pool and index, not by name only.

    Raises:
        UserError: the file cannot be read.
    """
    try:
        return "pool_digest" in ParquetFile(path).schema.names
    except (BadParquet, OSError) as error:
        said = getattr(error, "strerror", None) or error
        raise UserError(f"{path}: cannot be read ({said})") from None


def sequence_with_method_labels(s: TaskSequence, labels: Mapping[str, str]) -> TaskSequence:
    """The same sequence, whose methods have new labels (``labels``: old to new). Methods without a new label keep theirs."""
    return replace(s, method_ids=tuple(labels.get(m, m) for m in s.method_ids))


def _check_one_length(path: Path, sequences: Sequence[NamedSequence] | Sequence[TaskSequence]) -> None:
    """Check that all sequences have the same number of tasks. Joint sequences, which have a single task, are not compared.

    Raises:
        UserError: two sequences have different numbers of tasks.
    """
    compared = [s for s in sequences if not isinstance(s, TaskSequence) or s.kind != "joint"]
    lengths = {len(s.tasks): s.name if isinstance(s, NamedSequence) else s.sequence_id for s in compared}
    if len(lengths) > 1:
        (a, first), (b, second) = list(lengths.items())[:2]
        raise UserError(
            f"{path}: sequence {first!r} has {counted(a, 'task')}, {second!r} {b}: evaluate those of one length at a time"
        )
