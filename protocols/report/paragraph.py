"""How a run was made, as a paragraph for a paper: data, splits, methods, seeds, conditions of intervals, versions, digest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from protocols.report.latex import tex
from protocols.report.references import Reference, references
from protocols.report.table_files import ENDINGS
from protocols.report.text import enumerated
from protocols.report.view import View, view_of_run
from seqsearch.core.text import counted, shown
from seqsearch.core.typed import fits
from seqsearch.results.digest import run_digest
from seqsearch.results.run import read_config

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
        text = paragraph(view_of_run(run), config, run_digest(run))
        found.append(latex(text, of_run) if form == "latex" else f"{shown(text)}\n")
    return {f"paragraph.{ENDINGS[form]}": "\n".join(found), "references.bib": "\n\n".join(cited.values()) + "\n"}


def paragraph(view: View, config: Mapping[str, Any], digest: str) -> str:
    """Plain text, of one run.

    Args:
        config: ``config.json`` of the run.
        digest: of the files of the run.
    """
    return " ".join(
        [*(t for t in view.how if not _FILES.search(t)), *_sentences(config), *_conditions(view), _made(config, digest)]
    )


def _sentences(config: Mapping[str, Any]) -> Iterator[str]:
    """Data, splits, methods, numbers of sequences and seeds."""
    settings, identity = (_mapping(config.get(name)) for name in ("settings", "identity"))
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
    if methods := _mapping(identity.get("methods")):
        backbones = list(dict.fromkeys(str(_mapping(m).get("backbone")) for m in methods.values()))
        yield f"Methods: {enumerated(list(map(str, methods)))}, on {enumerated(backbones)}."
    numbers = [(n, word) for key, word in COUNTS.items() if fits(n := settings.get(key), int) and n]
    if fits(tasks := settings.get("tasks"), int) and tasks:
        size = settings.get("classes_per_task")
        of = f" of {counted(size, 'class')}" if fits(size, int) and size else ""
        yield f"A sequence had {counted(tasks, 'task')}{of}."
    if numbers:
        seed = settings.get("seed", 0)
        yield f"There were {enumerated([counted(n, word) for n, word in numbers])}; the seed of the study was {seed}."


def _conditions(view: View) -> Iterator[str]:
    """What the intervals are over and conditional on."""
    return (note.text for notes in view.ordered for note in notes if note.level == "condition")


def _made(config: Mapping[str, Any], digest: str) -> str:
    identity = _mapping(config.get("identity"))
    versions = _mapping(identity.get("versions"))
    programs = [f"{name} {versions[name]}" for name in PROGRAMS if name in versions]
    device = f" on {identity['device']} in {identity.get('precision')}" if identity.get("device") else ""
    return (
        f"Computed by seqsearch {versions.get('seqsearch', '-')} with {enumerated(programs)}{device}. "
        f"Digest of the run: {digest}."
    )


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
        cited += rf" The methods are those of~\cite{{{','.join(rest)}}}."
    return cited + "\n"
