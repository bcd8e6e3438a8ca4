"""An MCIL summary in words: its headline, findings and notes, for the terminal and the report alike."""

from __future__ import annotations

import math

from protocols.mcil.compared import Difference
from protocols.mcil.summary import Summary
from protocols.report.chance_words import at_chance
from protocols.report.mcil_tables import beyond_noise_first
from protocols.report.mean_words import assumption
from protocols.report.text import cost, count, enumerated, highest, percent
from seqsearch.core.text import shown
from seqsearch.distribution.mean import FEWEST

NAMED = 3
"""Pairs that a sentence names."""
LONGEST = 400
"""Characters of why a method failed."""


def headline(s: Summary) -> str:
    """The verdict in one line: which methods differ beyond noise."""
    if not s.run.finished:
        return f"Not finished (it stopped at: {(s.run.stats or {}).get('reached') or 'not known'}): nothing is claimed yet."
    there = s.whole
    if not there:
        return "No method came to the end of all its runs: nothing is claimed."
    averages = [(h.label, h.over["average"].interval.value) for h in there]
    if len(there) == 1:
        return f"{there[0].label}: Avg {percent(averages[0][1])} %; no other method is compared with it."
    first = highest(averages, "Avg")
    differ = [d for d in beyond_noise_first(s) if d.pair.told]
    if not differ:
        return f"{first}; {_why_none(s)}"
    named = [f"{a} above {b}" for a, b in (_ordered(d) for d in differ[:NAMED])]
    more = f", and {len(differ) - NAMED} more" if len(differ) > NAMED else ""
    left = len(s.pairs) - len(differ)
    rest = f"; {count(left, 'pair')} of {len(s.pairs)} cannot be told" if left else ""
    return f"{first}; beyond noise: {enumerated(named)}{more}{rest}."


def _ordered(d: Difference) -> tuple[str, str]:
    return (d.first, d.second) if d.pair.over.interval.value > 0 else (d.second, d.first)


def _why_none(s: Summary) -> str:
    if all(d.pair.alike for d in s.pairs):
        return "all methods agree in every run."
    if all(d.pair.over.lacking for d in s.pairs):
        return f"whether any two methods differ cannot be said: {s.pairs[0].pair.over.lacking}."
    return f"of {count(len(s.pairs), 'pair')} of methods none can be told apart beyond noise."


def findings(s: Summary) -> list[str]:
    """What else is told."""
    return [*_failed(s), *_modalities(s), *_noise(s)]


def _failed(s: Summary) -> list[str]:
    cut = [f"{h.label} ({h.status})" for h in s.heads if h.status != "ok"]
    gone = [*cut, *(f"{m} (no experience judged)" for m in s.absent)]
    if not gone or not s.run.finished:
        return []
    labels = [*(h.label for h in s.heads if h.status != "ok"), *s.absent]
    why = [f"{shown(m)}: {shown(s.run.failures[m])[:LONGEST]}" for m in labels if m in s.run.failures]
    return [f"Not all runs came to their end, so that these are compared with none: {enumerated(gone)}.", *why]


def _modalities(s: Summary) -> list[str]:
    said = []
    for label in dict.fromkeys(w.label for w in s.worth):
        own = [w for w in s.worth if w.label == label]
        lost = [
            f"{100 * w.over.interval.value:.1f} points judged as {w.classifier!r}"
            for w in own if w.p <= 0.05 and w.over.interval.sign > 0
        ]  # fmt: skip
        if lost:
            said.append(f"{label} loses {enumerated(lost)}, beyond noise.")
    return said


def _noise(s: Summary) -> list[str]:
    """One sentence."""
    there = [n for n in s.noise if not n.of.lacking]
    told = [f"{n.label} ({100 * n.of.order:.1f} points, sd)" for n in there if n.p <= 0.05]
    untold = [n.label for n in there if not n.unseeded and not n.p <= 0.05]
    fixed = [n.label for n in there if n.unseeded]
    said = [f"beyond what training seeds explain in {enumerated(told)}"] if told else []
    said += [f"in {enumerated(untold)} by no more than seeds may explain"] if untold else []
    said += [f"in {enumerated(fixed)}, where seeds changed nothing, by itself"] if fixed else []
    return [f"Avg varies from class order to class order {'; '.join(said)}."] if said else []


def notes(s: Summary) -> list[str]:
    """What all figures are conditional on, how they came about, and what the run cost."""
    return [*_conditions(s), *at_chance(s.at_chance), *_few(s), *_sizes(s), *cost(s.run.stats)]


def _conditions(s: Summary) -> list[str]:
    if s.orders > 1:
        seeds = "a training seed of its own each" if s.seeds == 1 else f"{s.seeds} training seeds of their own each"
        over = f"Intervals and p-values are over {count(s.orders, 'random class order')} with {seeds}"
    else:
        over = f"Intervals and p-values are over {count(s.seeds, 'training seed')} of a single class order, and hold for it alone"
    return [
        f"{over}, the same for all methods. They hold for this pool, this split and its test images, these experiences and these "
        "settings; what other images or another split would show is in no interval. All images but those of test are learned."
    ]


def _few(s: Summary) -> list[str]:
    n = s.orders if s.orders > 1 else s.seeds
    if n < FEWEST:
        return [f"{count(n, 'run')}: no interval. Ask for {FEWEST} or more (--seeds), 5 or more to tell methods apart."]
    return [said] if (said := assumption(n, "runs")) else []


def _sizes(s: Summary) -> list[str]:
    sizes = s.run.identity.get("experience_sizes")
    images = s.run.identity.get("images")
    if not (isinstance(sizes, list) and sizes and all(isinstance(n, int) for n in sizes)):
        return []
    text = f"{len(sizes)} experiences of {shown(_grouped(sizes))} classes"
    if isinstance(images, dict) and all(
        isinstance(v := images.get(n), int | float) and math.isfinite(v) for n in ("trained", "test")
    ):
        text += f"; of a class {images['trained']:.4g} images are learned and {images['test']:.4g} judged, on average"
    return [f"{text}."]


def _grouped(sizes: list[int]) -> str:
    """E.g. ``11, 11, 10 x 8``; sizes come larger first."""
    found = []
    for size in dict.fromkeys(sizes):
        times = sizes.count(size)
        found.append(f"{size} x {times}" if times > 2 else ", ".join([str(size)] * times))
    return ", ".join(found)
