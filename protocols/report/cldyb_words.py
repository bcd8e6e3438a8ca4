"""A CLDyB summary in words and in cells, for the terminal and the report alike."""

from __future__ import annotations

import math

from protocols.cldyb.compared import Placed
from protocols.cldyb.summary import Progress, Summary
from protocols.report import cldyb_joint as joint
from protocols.report.by_method import covering, marks, may_be_best
from protocols.report.chance_words import at_chance
from protocols.report.cldyb_baseline import THAN, as_placebo, by_searching, source
from protocols.report.cldyb_confusion import confusion
from protocols.report.cldyb_searches import about_searches, how_found
from protocols.report.cldyb_tables import best, one_task
from protocols.report.cldyb_tables import marks as stars_of
from protocols.report.lacking import without_interval
from protocols.report.provenance import caveats
from protocols.report.text import cost, count, enumerated, percent, these
from seqsearch.core.text import shown
from seqsearch.distribution.drop import Drop
from seqsearch.distribution.interval import AGREE, shows
from seqsearch.distribution.rank_test import RankTest


def headline(summary: Summary) -> str:
    """The result in one sentence."""
    if summary.unfinished:
        return f"Not finished (it stopped at: {summary.unfinished.reached}): nothing is claimed yet."
    drop = summary.overall.drop
    if drop is None:
        return f"{title(summary)}." if one_task(summary) else f"{title(summary)}; the notes say why."
    if drop.nothing_differs:
        why = f"; {summary.same}" if summary.same else ""
        said = verdict(drop, summary.placed)
        return f"{as_placebo(said) if summary.placebo else said}: final test accuracy is {percent(drop.random)} % on each{why}."
    figures = f"final test accuracy {percent(drop.found)} % against {percent(drop.random)} % on average"
    said = f"{title(summary)}: {figures}, {change(drop)}."
    return " ".join(filter(None, (said, for_whom(summary), nothing_to_choose_by(summary))))


def for_whom(summary: Summary) -> str:
    """Whether harder sequences are harder to learn continually, by joint training on the same classes; else empty."""
    return joint.statement(summary.gap, [m.method for m in summary.methods], summary.overall.drop, summary.placed)


def title(summary: Summary) -> str:
    """The verdict without figures, and what it rests on: why nothing differs or is compared, or who was searched with."""
    drop = summary.overall.drop
    said = verdict(drop, summary.placed, summary.baseline)
    if summary.placebo:
        said = as_placebo(said)
    elif summary.baseline == "greedy":
        said = by_searching(said, summary.placed)
    if drop is not None and not drop.nothing_differs:
        return said + how_found(summary)
    known = summary.same if drop is not None or one_task(summary) else ""
    return f"{said}; {known}" if known else said


def verdict(drop: Drop | None, placed: Placed | None, baseline: str = "uniform") -> str:
    """The verdict of the rank test, with its p-value; without one, where the found sequences stand among the random ones.

    ``baseline``: which random ones they are (``--baseline``).
    """
    if drop is None or placed is None:
        return "Found and random sequences cannot be compared in this run"
    if drop.nothing_differs:
        return "Found and random sequences do not differ at all"
    if percent(drop.found) == percent(drop.random):
        return "Found and random sequences score the same"
    t = placed.test
    found, are = ("The found sequence", "is") if t.found == 1 else (f"The {t.found} found sequences", "are")
    if not t.significant and t.needed:
        more = f"{count(t.needed, 'more random sequence')} would allow a verdict"
        of = "" if baseline == "uniform" else f" {THAN[baseline]}"
        return f"{found} {'scores' if t.found == 1 else 'score'} {standing(t)}{of}; {more}"
    degree = t.end if t.significant else f"not significantly {t.end}"
    return f"{found} {are} {degree} than {THAN[baseline]} ({standing(t)}, p = {t.p:.2g})"


def standing(t: RankTest) -> str:
    """Where the found sequences stand among the random ones: ``below all 19``, ``on average above 17 of 19``."""
    beaten = t.random - t.as_extreme
    of = f"all {t.random}" if beaten == t.random else f"{beaten or 'none'} of {t.random}"
    return f"{'' if t.found == 1 else 'on average '}{'below' if t.end == 'harder' else 'above'} {of}"


def change(drop: Drop) -> str:
    """The relative drop, with the signs of the tables, and its interval or what that lacks: ``a relative drop of 29.8 % (95 %
    interval ...)``; where no direction is told only by its name, ``relative drop -3.3 % (...)``."""
    size, bounds = change_in_parts(drop)
    if drop.relative.sign < 0 and shows(drop.relative.value):
        r = drop.relative
        return f"a relative rise of {percent(-r.value)} % (95 % interval {percent(-r.high)} to {percent(-r.low)})"
    told = drop.relative.sign and shows(drop.relative.value)
    return f"{'a relative drop of' if told else 'relative drop'} {size} % ({bounds})"


def change_in_parts(drop: Drop) -> tuple[str, str]:
    """The relative drop in percent, below 0 where found sequences score higher, and its interval or what it lacks."""
    r = drop.relative
    interval = f"95 % interval {percent(r.low)} to {percent(r.high)}"
    return percent(r.value), interval if math.isfinite(r.low) else drop.lacking or "no interval"


def nothing_to_choose_by(summary: Summary) -> str:
    """That no step had two judged candidates, or that J told none apart; empty if one did, or if that is not known."""
    s = summary.steps
    if s.alone and not s.number:
        return (
            "At no step were two candidates judged, so that nothing was chosen by training: "
            f"{source(summary, 'are proposed')}."
        )
    if not s.number or s.told or s.unknown:
        return ""
    why = "equal" if not s.noise else "no further apart than their noise"
    return f"J told the candidates of no step with a choice apart ({why}): {source(summary, 'are grown')}."


def notes(summary: Summary) -> list[str]:
    """What the figures are conditional on, what is missing, what makes found sequences hard, what it cost; of an unfinished run
    how far it came."""
    if summary.unfinished:
        return [shown(line) for line in (*_progress(summary.unfinished), *cost(summary.stats))]
    drops, one = [m.drop for m in (summary.overall, *summary.methods) if m.drop], one_task(summary)
    if one:
        about = []
    elif not summary.random_sequences:
        about = ["No random sequences in this run: nothing to compare the found ones with (--random-sequences)."]
    else:
        about = [marks(summary.placed, stars_of(summary))] if drops and not drops[0].nothing_differs else []
        about += (
            [covering(covered(drops[0], _one_search_each(summary)), summary.methods), widest(drops[0])] if drops else []
        )
        about += without_interval([(m.method, m.drop) for m in summary.methods if m.drop] if summary.mean else [])
    said = (
        *about,
        may_be_best(best(summary), "on found sequences"),
        trained_on(summary),
        *summary.troubles,
        *at_chance(summary.at_chance),
        *caveats(summary.provenance),
        flat(summary),
        *([] if one else joint.notes(joint.rows_of(summary), summary.overall.drop, summary.placed)),
        *([] if one else (*robustness(summary), *about_searches(summary))),
        *confusion(summary.overall),
    )
    return [*filter(None, said), *cost(summary.stats)]


def _progress(p: Progress) -> list[str]:
    decided = [f"{name}: {n} of {p.tasks} tasks decided." for name, n in p.decided]
    done = f"{count(p.scored, 'rollout')} re-scored so far." if p.scored else "Nothing was re-scored."
    return [*decided, done, f"Go on with: {p.resume}"]


def _one_search_each(summary: Summary) -> int:
    """Sequences that the headline speaks of where a method has one: one of each where each has its own."""
    own = summary.separate or any(m.searched for m in summary.methods)
    return len(summary.methods) if own else 1


def covered(drop: Drop, sequences: int = 1, shared_first: bool = True) -> str:
    """Over what the intervals of the drop hold, and what they are conditional on; else what is lacking, if anything.

    ``sequences``: found ones, where there is one search for each method, or for all; ``shared_first``: all begin with one task.
    """
    if drop.nothing_differs:
        return ""
    if drop.lacking:
        return f"No interval of the headline's drop: {drop.lacking}."
    over, given = [count(drop.random_sequences, "random sequence")], ["the split of the images"]
    if shared_first:
        given.insert(0, "the first task")
    if drop.over_seeds:
        over.append(f"{drop.seeds} training seeds")
    else:
        given.append(f"{these(drop.seeds, 'training seed')} (--score-seeds)")
    (given if drop.these_images else over).append(
        "these test images" if drop.these_images else "the draw of the test images"
    )
    if drop.over_searches:
        over.insert(0, f"{drop.found_sequences} independent searches")
    else:
        found = these(drop.found_sequences, "found sequence")
        found = f"these {sequences} found sequences, one for a method" if sequences > 1 else found
        given.append(f"{found}: another search may find less (--searches)")
    said = f"95 % intervals are over {enumerated(over)}; conditional on {enumerated(given)}."
    if drop.over_searches or drop.over_seeds:
        c = drop.conditional
        also = "Conditional on the trainings of the found sequences as well"
        said += f" {also}, the headline's is {percent(c.low)} to {percent(c.high)}."
        if c.sign and not drop.relative.sign:
            said += " It excludes 0 for these trainings, and not for others."
    return said


def widest(drop: Drop) -> str:
    """What most of the interval's width comes from; empty if no part has half of its square, or there is no interval."""
    part, share = max(drop.shares.items(), key=lambda pair: pair[1], default=("", 0.0))
    if share < 0.5:
        return ""
    more = {
        "found sequences": "--searches", "random sequences": "--random-sequences", "training seeds": "--score-seeds",
        "test images": "a pool with more test images",
    }  # fmt: skip
    return f"{percent(share)} % of the squared width of the headline's interval comes from {part}: {more[part]} narrows it most."


def trained_on(summary: Summary) -> str:
    """How many images of a class the figures were trained on, and the search; empty if the run does not say."""
    i = summary.images
    if i is None:
        return ""
    here = f"Images of a class: trained on {i.trained:.4g}, all but the {i.test:.4g} tested"
    if i.searched == i.trained or one_task(summary):
        return f"{here}."
    return f"{here}; the search trained on {i.searched:.4g}, holding back those it judged by."


def flat(summary: Summary) -> str:
    """At how many steps J did not tell the candidates apart, or that none had two; empty if it did at all where that is known.

    Where one had two, steps with one candidate (the first task is drawn, the last may be what is left) leave nothing to
    choose, and do not count.
    """
    s = summary.steps
    if s.alone and not s.number:
        return (
            "No J decided anything: at every step of the search one candidate was judged to its end (--candidates, --condensed, "
            "--simulations, --screen-to, --selector and the classes left say how many are)."
        )
    if not s.equal + s.noise:
        return ""
    unknown = f"; at {s.unknown} the noise is not known" if s.unknown else ""
    return (
        f"At {s.equal + s.noise} of {count(s.number, 'step')} with a choice J did not tell the candidates apart (equal at "
        f"{s.equal}, within two standard errors at {s.noise}{unknown}): the tasks taken there are as good as drawn from the "
        "candidates."
    )


def robustness(summary: Summary) -> list[str]:
    """Of methods that were searched alone: what their robustness is, and whose search fell short."""
    if not summary.separate:
        return []
    said = [
        "Robustness: lowest of the mean final Acc over the sequences found for one method; every method is scored on all."
    ]
    for m in summary.methods:
        own, low = dict(m.elsewhere).get(m.method), m.robustness
        harder = [name for name, acc in m.elsewhere if low is not None and acc <= low + AGREE]
        if own is not None and low is not None and shows(own - low) and percent(own) != percent(low):
            said.append(
                f"{m.method}: {percent(own)} % on its own found sequences, {percent(low)} % on those of {enumerated(harder)} (as "
                "measured, without an interval): its own search did not find the hardest."
            )
    return said
