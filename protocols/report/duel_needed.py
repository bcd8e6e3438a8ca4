"""How many random sequences the claims of a duel take, in words."""

from __future__ import annotations

import math

from protocols.evaluate.duel.summary import DuelSummary
from protocols.report.text import percent
from seqsearch.distribution.interval import AGREE
from seqsearch.distribution.paired import Side
from seqsearch.distribution.sample_size import MOST, POWERS, Needed


def of(s: DuelSummary, side: Side) -> str:
    """The label of a method."""
    return s.methods[side == "b"]


def other(s: DuelSummary, side: Side) -> str:
    """The label of the other one."""
    return s.methods[side != "b"]


def most_needed(s: DuelSummary) -> str:
    """Random sequences for the claim on most."""
    p, n = s.sample, s.needed_most
    if p is None or n is None or p.counts[0] == p.counts[2] == 0:
        return ""
    share = p.above if s.leader == "a" else p.below
    claim = f'To show that "{of(s, s.leader)} is above {other(s, s.leader)} on most sequences"'
    return _needed(
        claim, n, f"the share is {percent(share.value)} %, as estimated", f"it is {percent(share.low)} %", "1/2"
    )


def average_needed(s: DuelSummary) -> str:
    """Random sequences for the claim on average."""
    p, n = s.sample, s.needed_average
    if p is None or n is None or not p.sd > AGREE:
        return ""
    sign = 1 if s.leader == "a" else -1
    low = sign * (p.mean.low if sign > 0 else p.mean.high)
    claim = f'To show that "{of(s, s.leader)} is above {other(s, s.leader)} on average"'
    at = f"the mean gap is {100 * sign * p.mean.value:.1f} points, as estimated"
    return _needed(claim, n, at, f"it is {100 * low:.1f}", "0", math.isnan(low))


def _needed(claim: str, n: Needed, at: str, at_least: str, nothing: str, unbounded: bool = False) -> str:
    powers = " and ".join(f"{100 * power:.0f}" for power in POWERS)
    if not n.estimated:
        return f"{claim} no number of sequences can be told: the estimate is not above {nothing}."
    text = f"{claim} with {powers} % power takes {_numbers(n.estimated)} random sequences if {at}"
    if n.least:
        return f"{text}; {_numbers(n.least)} if {at_least}, the lower end of its interval."
    lacking = "there is no interval yet" if unbounded else "no difference is shown"
    return f"{text}; how many at the lower end of its interval cannot be told: {lacking}."


def _numbers(ns: tuple[int | None, ...]) -> str:
    return " and ".join(f"more than {MOST:,}" if n is None else f"{n:,}" for n in ns)
