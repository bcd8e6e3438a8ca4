"""An explanation in words, for the terminal and the report alike."""

from __future__ import annotations

import math

from protocols.evaluate.explain.figures import Measure
from protocols.evaluate.explain.summary import MethodEffects, Rank, Summary
from protocols.report.provenance import caveats
from protocols.report.text import cost, count, enumerated, percent, these
from seqsearch.core.text import shown
from seqsearch.distribution.contrast import Contrast
from seqsearch.distribution.effects import Effects
from seqsearch.distribution.interval import Interval, shows

MEASURED: dict[Measure, str] = {
    "accuracy": "accuracy", "masked": "tasks by themselves", "confusion": "confusion", "gap": "gap to joint",
}  # fmt: skip
"""What the effects on each measure are called."""


def headline(s: Summary) -> str:
    """The result in one sentence."""
    if s.unfinished:
        return f"Not finished (it stopped at: {s.unfinished}): nothing is claimed yet."
    e = s.overall.measures.get("accuracy") if s.overall else None
    if e is None or not e.effects:
        return "No effect can be computed; the notes say why."
    parts = ", ".join(f"{name} {bracketed(c)}" for name, c in e.effects.items())
    whole = ""
    if "random" in e.means:
        whole = beside(e.means["random"].interval.value - e.means["found"].interval.value, found(e))
    return f"{verdict(e)}; {whole}{parts}."


def found(e: Effects) -> str:
    return "the found one" if e.found_sequences == 1 else "the found ones"


def beside(gap: float, whom: str) -> str:
    """Random sequences beside the found ones, as measured; ``gap``: random minus found, as a fraction."""
    if not shows(gap):
        return f"random sequences score as {whom} to 0.1 points: "
    return f"random sequences score {percent(abs(gap))} points {'above' if gap > 0 else 'below'} {whom}: "


def verdict(e: Effects) -> str:
    """Which effects can be told from 0, taken together."""
    subject = "The found sequence is" if e.found_sequences == 1 else "The found sequences are"
    harder = [WHICH[name] for name, c in e.effects.items() if c.together.sign > 0]
    easier = [WHICH[name] for name, c in e.effects.items() if c.together.sign < 0]
    if not harder and not easier:
        return (
            "Whether the choice of classes, their grouping or the order of tasks makes a difference cannot be told yet"
        )
    said = [f"harder by {enumerated(harder)}" if harder else "", f"easier by {enumerated(easier)}" if easier else ""]
    return f"{subject} {enumerated([x for x in said if x])}"


WHICH = {
    "content": "the choice of classes", "grouping": "their grouping into tasks", "order": "the order of tasks",
}  # fmt: skip


def bracketed(c: Contrast) -> str:
    """Points of accuracy with the interval: ``3.1 [1.2 to 5.0]``; ``*`` where it is told from 0 together with the others."""
    star = "*" if c.together.sign else ""
    return bounds(c.interval) + star


def bounds(i: Interval) -> str:
    """Percent: ``3.1 [1.2 to 5.0]``, or the value alone."""
    return percent(i.value) + (f" [{percent(i.low)} to {percent(i.high)}]" if math.isfinite(i.low) else "")


def notes(s: Summary) -> list[str]:
    """What the figures are conditional on, what is missing, what it cost; of an unfinished run what continues it."""
    if s.unfinished:
        return [shown(f"Go on with: {s.resume}"), *cost(s.stats)]
    said = list(_about(s.overall)) if s.overall else []
    said += [rank(m, r) for m in s.methods for r in m.ranks]
    return [shown(n) for n in (*said, *s.common.notes, *s.troubles, *s.biases, *caveats(s.provenance)) if n] + cost(
        s.stats
    )


def _about(m: MethodEffects) -> list[str]:
    e = m.measures["accuracy"]
    return [
        covered(e),
        "Intervals are one by one; * marks effects that differ from 0 at a level at which all effects of a row hold together "
        "(Bonferroni).",
        *_exhausted(e),
        *(f"No interval of {name}: {c.unavailable_because}." for name, c in e.effects.items() if c.unavailable_because),
        *(
            f"{name.capitalize()}: no difference between any of the sequences measured, with any seed."
            for name, c in e.effects.items()
            if c.nothing_differs
        ),
        _masked(m),
        _bound(m),
        "" if "random" in e.means else "No random sequences in the source: nothing is said of content.",
    ]


def covered(e: Effects) -> str:
    """Over what the intervals hold, and what they are conditional on."""
    names = dict.fromkeys(name for c in e.effects.values() for name in c.variances)
    if not names:
        return ""
    counts = {
        "random sequences": e.draws.get("random", 0),
        "training seeds": e.seeds,
        "found sequences": e.found_sequences,
    }
    counts |= {"regroupings": e.draws.get("regrouped", 0), "reorderings": e.draws.get("reordered", 0)}
    over = [f"{counts[n]} {n}" if n in counts else f"the draw of the {n}" for n in names]
    given = ["the first task", "the split of the images"]
    if not e.over_searches:
        found = these(e.found_sequences, "found sequence")
        given.append(f"{found}: another search may differ for other reasons (--searches 3 or more)")
    if "training seeds" not in names:
        given.append(these(e.seeds, "training seed"))
    if "test images" not in names:
        given.append("these test images")
    said = f"95 % intervals of accuracy are over {enumerated(over)}; conditional on {enumerated(given)}."
    if not e.over_searches and "training seeds" not in names:
        return said
    of_these = [f"{n} {bounds(c.conditional)}" for n, c in e.effects.items() if math.isfinite(c.conditional.low)]
    return (
        f"{said} Conditional on these found sequences and trainings as well: {enumerated(of_these)}."
        if of_these
        else said
    )


def _exhausted(e: Effects) -> list[str]:
    what = {"regrouped": "other groupings", "reordered": "other orders"}
    return [f"All {what[n]} that there are were run." for n in e.exhausted if n in what]


def _masked(m: MethodEffects) -> str:
    """How much of each effect is the tasks by themselves."""
    if "masked" not in m.measures:
        return ""
    parts = [
        f"of {name} {percent(c.interval.value)} points are in the tasks by themselves, "
        f"{percent(m.measures['confusion'].effects[name].interval.value)} in confusion with other tasks"
        for name, c in m.measures["masked"].effects.items()
    ]
    return f"{'; '.join(parts).capitalize()} (scores masked to the task's own classes; intervals on these test images)."


def _bound(m: MethodEffects) -> str:
    if "gap" not in m.measures:
        return "No upper bound: joint training was left out (--no-bound), or did not end well."
    kinds = "; or, on another backbone, ".join(BOUNDS.get(kind, kind) for kind in m.bounds)
    return (
        f"Gap to joint: accuracy of joint training on the same classes ({kinds}; the same seeds) minus that of the method; "
        "effects say by how much it grows."
    )


BOUNDS = {
    "full": "best of fine-tuning, RanPAC and nearest neighbours by validation images",
    "frozen": "RanPAC's ridge regression on frozen features, no training of the network",
}
"""Kinds of upper bounds."""


def rank(m: MethodEffects, r: Rank) -> str:
    """How many random sequences a found one beats, and what that says."""
    ties = f", as hard as {r.ties}" if r.ties else ""
    low, high = percent(1 - r.place.share.high), percent(1 - r.place.share.low)
    return (
        f"{m.method}: {r.sequence} is harder than {r.beats} of {count(r.random, 'random sequence')}{ties} (one-sided p "
        f"{r.p:.3f}, exact, if it were one more random sequence); with these training seeds it is harder than {low} to {high} % "
        "of all random sequences (95 %, Clopper and Pearson; its own accuracy as it is)."
    )
