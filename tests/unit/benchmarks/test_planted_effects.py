"""`seqsearch explain` on planted worlds, through the real planner, engine, journal and summary: it tells what was planted."""

import pytest

from benchmarks.planted_effects import PLANTS, World, explained, recovered
from protocols.report.explain_words import headline, notes
from seqsearch.distribution.effects import EFFECTS

UNKNOWN = "Whether the choice of classes, their grouping or the order of tasks makes a difference cannot be told yet"


@pytest.mark.parametrize("plant", PLANTS)
def test_what_was_planted_is_told_and_nothing_else(plant):
    world = World(0, plant)
    summary = explained(world)
    [method] = summary.methods
    accuracy, confusion = (method.measures[m].effects for m in ("accuracy", "confusion"))
    told = {e for e, c in accuracy.items() if c.together.low > 0 or c.together.high < 0}
    assert told == {plant} - {"none"}
    for e, true in world.true().items():
        assert accuracy[e].interval.low <= true <= accuracy[e].interval.high
    assert all(c.nothing_differs for c in confusion.values()) == (plant != "order")
    if plant == "order":  # the tasks by themselves are as hard as before
        assert confusion["order"].together.low > 0.05
        assert method.measures["masked"].effects["order"].together.low < 0
    assert "gap" not in method.measures
    [rank] = method.ranks
    assert (rank.beats == 10 and rank.p == pytest.approx(1 / 11)) == (plant != "none")
    assert not summary.troubles
    said = {"content": "the choice of classes", "grouping": "their grouping into tasks", "order": "the order of tasks"}
    known = f"The found sequence is harder by {said[plant]}; random" if plant in said else f"{UNKNOWN}; random"
    assert known in headline(summary)
    [conditional] = [note for note in notes(summary) if note.startswith("95 % intervals")]
    for part in (
        "10 random sequences",
        "8 regroupings",
        "3 training seeds",
        "test images; conditional on",
        "this one found sequence",
    ):
        assert part in conditional
    assert "All other orders that there are were run." in notes(summary)


@pytest.mark.long
@pytest.mark.parametrize("plant", PLANTS)
def test_intervals_hold_and_the_plant_is_told_in_most_worlds(plant):
    r = recovered(plant, 30)
    assert min(r.held[e] for e in EFFECTS) >= 0.9
    assert max(r.told[e] for e in EFFECTS if e != plant) <= 0.1
    assert plant == "none" or r.told[plant] >= 0.35
