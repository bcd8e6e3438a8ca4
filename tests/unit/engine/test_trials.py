"""Trials: what is left of them, and which states nobody needs when a rollout is done."""

from __future__ import annotations

from dataclasses import replace

from seqsearch.core.outcomes import EdgeResult, Status
from seqsearch.core.types import ClassId, Edge, MethodSpec, Rollout, StateKey, Task
from seqsearch.engine.reporting import ReportedResults
from seqsearch.engine.trials import (
    LONGEST_MESSAGE,
    Trial,
    known_before,
    next_edge,
    passed,
    place,
    results,
    trouble,
)

SPEC = MethodSpec("m", "m", "b", (), "digest")
TASKS = tuple(Task((ClassId("pool", 2 * t), ClassId("pool", 2 * t + 1)), "split") for t in range(4))
PLAIN = Rollout(StateKey(SPEC, 0, 0, TASKS), leaf=True)
ADDITIVE = Rollout(StateKey(replace(SPEC, anchor=1), 0, 0, TASKS), leaf=True)


def answer(edge: Edge, status: Status = "ok") -> EdgeResult:
    return EdgeResult(edge.digest, edge.key.digest, status, message="" if status == "ok" else "why")


def ledger(*found: EdgeResult) -> ReportedResults:
    return ReportedResults(lambda _: None, found)


def test_a_trial_goes_on_behind_what_is_known() -> None:
    trial, edges = Trial("t", (PLAIN,)), PLAIN.edges()
    assert next_edge(trial, ledger()) == edges[0]
    assert next_edge(trial, ledger(*map(answer, edges[:2]))) == edges[2]
    assert next_edge(trial, ledger(*map(answer, edges))) is None
    assert next_edge(trial, ledger(answer(edges[0], "diverged"))) is None


def test_what_did_not_end_well_is_told_with_its_place() -> None:
    other = replace(PLAIN, key=replace(PLAIN.key, replicate=1))
    trial = Trial("setting 3 of m", (PLAIN, other), ("tune-0", "tune-1"))
    assert place(trial, PLAIN.edges()[0].digest) == (0, 1)
    assert place(trial, other.edges()[2].digest) == (1, 3)
    assert place(Trial("t", (ADDITIVE,)), ADDITIVE.edges()[2].home.digest) == (0, 3)
    said = trouble(trial, 1, 3, "failed", "why")
    assert said == "setting 3 of m, order tune-1, task 3: failed: why"
    assert trouble(Trial("t", (PLAIN,)), 0, 1, "oom", "x" * 999) == f"t, task 1: oom: {'x' * (LONGEST_MESSAGE - 3)}..."


def test_a_part_that_could_not_be_learned_ends_the_trial_with_its_status() -> None:
    edges = ADDITIVE.edges()
    known = ledger(*map(answer, edges[:2]), answer(edges[2].home, "diverged"))
    assert next_edge(Trial("t", (ADDITIVE,)), known) is None
    last = results(ADDITIVE, known)[-1]
    assert (last.status, last.message, last.digest) == ("diverged", "why", edges[2].digest)


def test_what_is_known_holds_the_edges_that_learn_parts() -> None:
    edges = ADDITIVE.edges()
    known = ledger(answer(edges[0]), answer(edges[2].home))
    assert {r.digest for r in known_before(Trial("t", (ADDITIVE,)), known)} == {edges[0].digest, edges[2].home.digest}


def test_passed_states_leave_the_first_task_and_the_last_state() -> None:
    chain = PLAIN.key.chain
    assert passed(PLAIN) == set(chain[1:-1])
    assert passed(PLAIN, whole=True) == set(chain)


def test_passed_states_of_an_additive_method_hold_its_parts() -> None:
    edges = ADDITIVE.edges()
    gone = passed(ADDITIVE)
    assert {e.key.part for e in edges[1:]} | {e.home.key.digest for e in edges[2:]} <= gone
    assert edges[0].key.digest not in gone
    assert edges[-1].key.digest not in gone
