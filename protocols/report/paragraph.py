"""How a run was made, as a paragraph for a paper: data, splits, methods, seeds, conditions of intervals, versions, digest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from protocols.evaluate.common.source import read_source, run_of
from protocols.report.latex import tex
from protocols.report.references import Reference, references
from protocols.report.table_files import ENDINGS
from protocols.report.text import enumerated, without_options
from protocols.report.view import View, view_of_run
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, shown
from seqsearch.core.typed import fits
from seqsearch.results.digest import run_digest
from seqsearch.results.run import read_config
from seqsearch.results.schema import SEQUENCES
from seqsearch.results.tables import read_sequences
from seqsearch.storage.inside import Inside

COUNTS = {
    "experiences": "experience",
    "searches": "search",
    "random_sequences": "random sequence",
    "orders": "class order",
    "trials": "trial",
    "score_seeds": "training seed",
    "seeds": "training seed",
}
"""Settings that are numbers, in words."""
OF_SCORE = {"searched": "found", "heldout": "random (held-out pool)"}
"""Kinds of sequences that a sentence does not call by their names."""
PROGRAMS = ("torch", "timm", "numpy", "scipy", "scikit-learn")
_FILES = re.compile(r"[a-z_]+\.(parquet|json|yaml)")


def of_runs(runs: Sequence[Path], form: Literal["latex", "markdown"]) -> dict[str, str]:
    """Files: a paragraph for each run, and the references of all.

    Raises:
        UserError: a run without results, or a damaged one.
    """
    found, cited = list[str](), dict[str, str]()
    for run in runs:
        config = read_config(run)
        of_run = references(config)
        cited |= {r.key: r.bibtex for r in of_run}
        text = paragraph(run, config)
        found.append(latex(text, of_run) if form == "latex" else f"{shown(text)}\n")
    return {f"paragraph.{ENDINGS[form]}": "\n".join(found), "references.bib": "\n\n".join(cited.values()) + "\n"}


def paragraph(run: Path, config: Mapping[str, Any]) -> str:
    """Plain text, of one run.

    Args:
        config: ``config.json`` of the run.
    """
    view = view_of_run(run)
    said = (*_data(config), *_methods(config), *_sequences(run, config), *_conditions(view))
    return " ".join([*_how(view), *said, _made(config, run_digest(run))])


def _how(view: View) -> list[str]:
    return [text for text in view.how if not _FILES.search(text)]


def _data(config: Mapping[str, Any]) -> Iterator[str]:
    """Pools, splits and images."""
    settings, identity = _parts(config)
    pools = identity.get("pools")
    said = [p for p in pools if isinstance(p, dict)] if isinstance(pools, list) else []
    if said:
        sizes = [n if isinstance(n := p.get("in_play"), int) else 0 for p in said]
        named = [f"{p.get('pool')} ({counted(n, 'class')})" for p, n in zip(said, sizes, strict=True)]
        yield f"Classes came from {enumerated(named)}."
    elif settings.get("stream"):
        yield f"Samples came from {settings['stream']}."
    if settings.get("tune_pool"):
        yield f"Hyperparameters were chosen on {settings['tune_pool']}."
    images = _mapping(identity.get("images"))
    trained, searched, test = (images.get(part) for part in ("trained", "searched", "test"))
    if isinstance(trained, int | float) and isinstance(test, int | float):
        yield f"Each class had {trained:g} training and {test:g} test images."
        if config.get("protocol") in ("cldyb", "duel") and isinstance(searched, int | float):
            rest = trained - searched
            yield f"Searches trained on {searched:g} of the training images and were rewarded on the other {rest:g}."


def _methods(config: Mapping[str, Any]) -> Iterator[str]:
    """Methods and backbones, those whose results were taken over included."""
    _, identity = _parts(config)
    methods, others = _mapping(identity.get("methods")), _mapping(identity.get("taken_over"))
    if methods or others:
        backbones = dict.fromkeys(
            [*(str(_mapping(m).get("backbone")) for m in methods.values()), *map(str, others.values())]
        )
        yield f"Methods: {enumerated(list(map(str, [*methods, *others])))}, on {enumerated(list(backbones))}."


def _sequences(run: Path, config: Mapping[str, Any]) -> Iterator[str]:
    """Their number and sizes, and the search for them."""
    settings, _ = _parts(config)
    if config.get("protocol") == "score":
        yield _fixed(run)
        yield from _taken_over(config)
        return
    if fits(tasks := settings.get("tasks"), int) and tasks:
        size = settings.get("classes_per_task")
        of = f" of {counted(size, 'class')}" if fits(size, int) and size else ""
        yield f"A sequence had {counted(tasks, 'task')}{of}."
    yield from _search(settings)
    yield from _counts(settings)


def _counts(settings: Mapping[str, Any]) -> Iterator[str]:
    if numbers := [(n, word) for key, word in COUNTS.items() if fits(n := settings.get(key), int) and n]:
        seed = settings.get("seed", 0)
        yield f"The study had {enumerated([counted(n, word) for n, word in numbers])}; its seed was {seed}."


def _search(settings: Mapping[str, Any]) -> Iterator[str]:
    """How a search by training chose each task; nothing of other settings."""
    wanted = ("candidates", "condensed", "simulations", "lookahead")
    proposed, evaluated, simulations, ahead = (n if fits(n := settings.get(key), int) else None for key in wanted)
    if proposed is None or evaluated is None or simulations is None or ahead is None:
        return
    if settings.get("selector") == "mcts":
        yield (
            f"At each step {min(evaluated, proposed)} of {counted(proposed, 'proposed task')} were evaluated by "
            f"{counted(simulations, 'simulation')}, with {counted(ahead, 'further task')} behind each."
        )
    else:
        yield f"At each step one of {counted(proposed, 'proposed task')} was chosen (selector {settings.get('selector')})."


def _fixed(run: Path) -> str:
    """The sequences of a score, which did not choose their sizes."""
    sequences = [s for s in read_sequences(Inside(run).checked(SEQUENCES.file)) if s.kind != "joint"]
    kinds = Counter(OF_SCORE.get(s.kind, s.kind) for s in sequences)
    tasks, sizes = {len(s.tasks) for s in sequences}, {len(t.classes) for s in sequences for t in s.tasks}
    return (
        f"The evaluation used {enumerated([f'{n} {kind}' for kind, n in kinds.items()])} sequence{'s' * (len(sequences) > 1)} of "
        f"{_between(tasks, 'task')}, each of {_between(sizes, 'class')}."
    )


def _between(numbers: Collection[int], word: str) -> str:
    low, high = min(numbers), max(numbers)
    return counted(low, word) if low == high else f"{low} to {counted(high, word)}"


def _taken_over(config: Mapping[str, Any]) -> Iterator[str]:
    """Where the sequences of a score came from, how they were found, and whose results were taken over with them.

    How they were found is said only if the run that found them is there, and as it was.
    """
    settings, identity = _parts(config)
    source = str(settings.get("source"))
    yield f"The sequences are those of {source}."
    with suppress(UserError, OSError, ValueError):  # whoever made the run may have written any path
        run = run_of(source, Path(str(config.get("directory"))), settings.get("by_name") is True)
        if run and read_source(run, str(settings.get("which"))).digest == identity.get("source"):
            found, _ = _parts(read_config(run))
            yield " ".join([*_how(view_of_run(run)), *_search(found), *_counts(found)])
    if others := list(_mapping(identity.get("taken_over"))):
        yield f"Results of {enumerated(others)} were taken over with them."


def _conditions(view: View) -> Iterator[str]:
    """What the intervals are over and conditional on."""
    return (without_options(note.text) for notes in view.ordered for note in notes if note.level == "condition")


def _made(config: Mapping[str, Any], digest: str) -> str:
    identity = _mapping(config.get("identity"))
    versions = _mapping(identity.get("versions"))
    programs = [f"{name} {versions[name]}" for name in PROGRAMS if name in versions]
    device = f" on {identity['device']} in {identity.get('precision')}" if identity.get("device") else ""
    return (
        f"Computed by seqsearch {versions.get('seqsearch', '-')} with {enumerated(programs)}{device}. "
        f"Digest of the run: {digest}."
    )


def _parts(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Settings and identity."""
    return _mapping(config.get("settings")), _mapping(config.get("identity"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def latex(text: str, found: Sequence[Reference]) -> str:
    """A paragraph as LaTeX: a title in quotes is cited there, all other references at the end."""
    cited = tex(text)
    rest = []
    for r in found:
        quoted = tex(f'"{r.title}"')
        if quoted in cited:
            cited = cited.replace(quoted, rf"\emph{{{tex(r.title)}}}~\cite{{{r.key}}}")
        else:
            rest.append(r.key)
    if rest:
        cited += rf" The papers of the methods are~\cite{{{','.join(rest)}}}."
    return cited + "\n"
