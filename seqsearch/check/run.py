"""``seqsearch check``: does a custom method or learner keep the contracts that results rest on? Real training on small tasks.

Methods have the contracts C1 to C10 (`seqsearch.check.contracts`, ``docs/method_contracts.md``), learners L1 to L7
(`seqsearch.check.learner`). A method by command is trained several times on two small tasks.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from seqsearch.backbones.open import build_backbone
from seqsearch.check.comparisons import LONGER_STREAM, accuracies, beside
from seqsearch.check.contracts import RAISING, TESTS, Test, restored
from seqsearch.check.finding import Finding
from seqsearch.check.findings import Crashed
from seqsearch.check.learner import learner_findings
from seqsearch.check.subject import Subject, WrongForm, pool_for
from seqsearch.check.watched import Trainings
from seqsearch.core import command_line
from seqsearch.core.deadline import ends_session
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_item
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.registry import located, names
from seqsearch.core.types import Edge, MethodSpec, StateKey, Task, reported
from seqsearch.learners.base import Learner
from seqsearch.methods.base import Caps
from seqsearch.methods.spec import build_of
from seqsearch.storage.files import cache_root
from seqsearch.training.device import pin_threads
from seqsearch.training.failures import line_of
from seqsearch.training.guard import SharedStateChanged
from seqsearch.training.probes import checked_features
from seqsearch.training.scenario import checked_scores
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World


def check(
    text: str,
    backbone: str,
    weights: Mapping[str, str] | None = None,
    learner: bool = False,
    report: Callable[[float, range], None] = lambda seconds, more: None,
) -> list[Finding]:
    """Check one method, given in the item grammar.

    Args:
        weights: files by backbone.
        learner: it is a learner of streams, also if a method has its name.
        report: is called after the second training of a method, with its seconds and how many trainings follow (any of a range).

    Raises:
        UserError: it cannot be loaded.
    """
    pin_threads()
    item = located(parse_item(text, "method"), Path.cwd())
    if learner or is_learner(item):
        return learner_findings(item, backbone, dict(weights or {}))
    with tempfile.TemporaryDirectory() as scratch:
        pool = pool_for(build_backbone(item.backbone or backbone, weights))
        world = World(pool, 0, str(cache_root()), scratch, weights=tuple((weights or {}).items()))
        subject = Subject(world, world.spec(item, backbone), trainings=Trainings(report))
        if subject.spec.command:
            return [Finding(*f) for f in command_findings(subject.trainer, subject.spec, subject.tasks)]
        return method_findings(subject)


def compared_accuracies(
    text: str, backbone: str, weights: Mapping[str, str] | None = None, learner: bool = False
) -> list[str]:
    """A line for the method or learner and one for each baseline, then, for a method, its bytes; none for a command.

    Raises:
        UserError: it fails or diverges: a learner on a longer stream than that of the contracts.
    """
    item = located(parse_item(text, "method"), Path.cwd())
    if not (learner or is_learner(item)):
        return [] if command_line.is_one(item.target) else beside(item, backbone, dict(weights or {}))
    try:
        found = accuracies(item, backbone, dict(weights or {}))
    except Exception as error:
        raise UserError(f"{text} failed on a stream of {LONGER_STREAM.stream}: {line_of(error)}") from error
    return [
        f"{a.learner}: online accuracy {a.online:.3f}, near-future {a.near_future:.3f}, retention {a.retention:.3f}"
        for a in found
    ]


def method_findings(subject: Subject) -> list[Finding]:
    """One for each of `TESTS`. The last, of C10, reports every change of shared resources that any test found.

    Raises:
        Crashed: it fails at what it does in any run.
    """
    _run(subject)
    found, changed = [], ""
    for test in TESTS:
        finding, wrong = _found(subject, test)
        found.append(finding)
        changed = changed or wrong
        if finding.wrong:
            subject.forget()  # what broke one contract must not stand for another
    *others, last = found
    return [*others, replace(last, wrong=changed or last.wrong, tested=last.tested or bool(changed))]


def _run(subject: Subject) -> None:
    """Train the method once, and ask for its scores and features.

    Raises:
        Crashed: it fails, or gives scores or features that no run takes.
    """
    try:
        with subject.trainer.guard.job(subject.spec.target):
            method, batch = subject.both(), subject.batch(*subject.tasks)
            checked_scores(method, method.predict(batch), len(batch))
            checked_features(method, method.features(batch), len(batch))
    except (SharedStateChanged, WrongForm):  # the test that is for it finds that, too
        subject.forget()
    except BaseException as error:
        if ends_session(error):
            raise
        raise Crashed(subject.spec.label, error, subject.spec.target) from error


def _found(subject: Subject, test: Test) -> tuple[Finding, str]:
    """The finding of a test, which may be an error that the method raises, and the change of shared resources.

    The guard undoes such a change. A test that it ended has not tested its own contract.

    Raises:
        Crashed: it fails at what it does in any run.
    """
    wrong, tested, changed = "not tested: it changed what all jobs share, see C10", False, ""
    warns = test.warns
    try:
        with subject.trainer.guard.job(subject.spec.target):
            wrong, tested = test.wrong(subject), True
    except SharedStateChanged as error:
        changed = str(error)
    except WrongForm as error:
        of_form = test.wrong is restored
        wrong, tested, warns = (
            str(error) if of_form else "not tested: states must have another form first, see C4",
            of_form,
            False,
        )
    except BaseException as error:
        if ends_session(error):
            raise
        if test.contract not in RAISING:
            raise Crashed(subject.spec.label, error, subject.spec.target) from error
        wrong, tested, warns = line_of(error, subject.spec.target), True, False
    return Finding(test.contract, test.asks, wrong, tested, warns=warns and tested), changed


def embedded_backbone(text: str, learner: bool = False) -> str:
    """The embedded backbone that a method, given in the item grammar, is made for: of images, or of image-text pairs.

    Raises:
        UserError: it cannot be loaded.
    """
    item = located(parse_item(text, "method"), Path.cwd())
    if learner or command_line.is_one(item.target) or is_learner(item):
        return "glyph_vit"
    caps = getattr(build_of("method", item.target), "caps", None)
    return "glyph_flava" if isinstance(caps, Caps) and caps.backbones == "pairs" else "glyph_vit"


def is_learner(item: Item) -> bool:
    """Whether it is a learner of streams, and no method: its class says; of what is ours, its name if no method has it.

    Raises:
        UserError: its file cannot be loaded.
    """
    if command_line.is_one(item.target):
        return False
    if ":" not in item.target:
        return item.target in names("learner") and item.target not in names("method")
    build = build_of("method", item.target)
    return isinstance(build, type) and issubclass(build, Learner)


def command_findings(trainer: Trainer, spec: MethodSpec, tasks: tuple[Task, ...]) -> list[tuple[str, str, str]]:
    """Of a method by command: contract, its condition, and the break in words (empty if there is none)."""

    def run(count: int, replicate: int = 0) -> EdgeResult:
        key = StateKey(spec, 0, replicate, reported(tasks[:count]))
        return trainer.train(replace(Edge(key, "test"), keep=False))

    first, again, one = run(2), run(2), run(1)
    wrong = next((r.message for r in (first, again, one) if r.status != "ok"), "")
    answers = "it learns what it is given and answers with accuracies of these images"
    if wrong:
        return [("C9", answers, wrong)]
    same, alone = first.steps == again.steps, first.steps[0] == one.steps[0]
    two_runs = ", then ".join(str([list(row) for row in result.steps]) for result in (first, again))
    differ = f"images right after each task: {two_runs}: seed all that draws from the seed in sequence.json"
    early = (
        f"images right after task 1: {list(first.steps[0])} in a sequence of two tasks, {list(one.steps[0])} in one of one: it "
        "may size its network, or draw, by what comes later; its results hold for whole sequences, as score uses them"
    )
    return [
        ("C9", answers, ""),
        ("C1", "the same seed gives the same accuracies", "" if same else differ),
        ("C1", "later tasks change nothing before they come", "" if alone else early),
    ]
