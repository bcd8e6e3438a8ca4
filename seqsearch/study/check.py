"""``seqsearch check``: does a custom method keep the contracts that every result rests on? Real training on two small tasks.

The contracts are those of ``docs/methods.md``, C1 to C10 (`seqsearch.study.check_contracts`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from seqsearch.backbones.open import build_backbone
from seqsearch.core import command_line
from seqsearch.core.deadline import ends_session
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import located
from seqsearch.storage.files import cache_root
from seqsearch.study.check_beside import beside
from seqsearch.study.check_command import command_findings
from seqsearch.study.check_contracts import RAISING, TESTS, Test
from seqsearch.study.check_learner import learner_findings
from seqsearch.study.check_learner_beside import LONGER, accuracies
from seqsearch.study.check_made_for import is_learner, pool_for
from seqsearch.study.check_restored import restored
from seqsearch.study.check_subject import Subject, WrongForm
from seqsearch.study.check_trainings import Trainings
from seqsearch.study.findings import Crashed, Finding
from seqsearch.training.device import pin_threads
from seqsearch.training.failures import line_of
from seqsearch.training.guard import SharedStateChanged
from seqsearch.training.probes import checked_features
from seqsearch.training.scenario import checked_scores
from seqsearch.training.world import World


def check(
    text: str,
    backbone: str,
    weights: Mapping[str, str] | None = None,
    learner: bool = False,
    report: Callable[[float, range], None] = lambda seconds, more: None,
) -> list[Finding]:
    """Check one method, given in the item grammar; ``weights``: files by backbone; ``learner``: it is a learner of streams, also
    if a method has its name; ``report``: of a method, the seconds of its second training and how many follow, any of a range,
    once it is done.

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
    """A line for what is checked and each that it is told beside, then, for a method, its bytes; none for a command.

    Raises:
        UserError: it fails or diverges: a learner on a longer stream than that of the contracts.
    """
    item = located(parse_item(text, "method"), Path.cwd())
    if not (learner or is_learner(item)):
        return [] if command_line.is_one(item.target) else beside(item, backbone, dict(weights or {}))
    try:
        found = accuracies(item, backbone, dict(weights or {}))
    except Exception as error:
        raise UserError(f"{text} failed on a stream of {LONGER.stream}: {line_of(error)}") from error
    return [
        f"{a.learner}: online accuracy {a.online:.3f}, near-future {a.near_future:.3f}, retention {a.retention:.3f}"
        for a in found
    ]


def method_findings(subject: Subject) -> list[Finding]:
    """One for each of `TESTS`. What any of them found to be changed of what is shared is told with the last, of C10.

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
    """Let it learn and be looked at once.

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
    """What a test finds, or a method raises, and what it changed of what is shared, which is put back; a test that was ended by
    that has not tested its own contract.

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
