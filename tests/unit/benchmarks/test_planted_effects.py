"""`seqsearch explain` on planted worlds, through the real planner, engine, journal and summary: it tells what was planted."""

import pytest

from benchmarks.coverage.planted_effects import PLANTS, World, explained, recovered
from protocols.report.explain.notes import headline, notes, tiles
from seqsearch.stats.effects import EFFECTS


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
    said = {"content": "choice of classes", "grouping": "grouping", "order": "order"}
    known = headline(summary)
    assert known.code == ("explain.harder" if plant in said else "explain.undecided")
    assert known.values == ({"found": 1, "harder": [said[plant]]} if plant in said else {})
    coded = {n.code: n for n in notes(summary)}
    assert {"random sequences", "regroupings", "training seeds", "test images"} <= set(
        coded["explain.over"].values["over"]
    )
    of = coded["explain.sequences"].values
    assert (of["random"], of["regrouped"], of["found"], of["seeds"]) == (10, 8, 1, 3)
    assert coded["explain.these_found"].values == {"found": 1}
    assert not {"explain.these_seeds", "explain.these_images"} & set(coded)
    assert "explain.all_orders" in coded
    assert coded["explain.rank"].values["beats"] == rank.beats
    assert "explain.no_bound" in coded
    shown = [tile.value for tile in tiles(summary)]
    assert len(shown) == 4
    assert [value.endswith("* pp") for value in shown[1:]] == [e == plant for e in EFFECTS]


@pytest.mark.long
@pytest.mark.parametrize("plant", PLANTS)
def test_intervals_hold_and_the_plant_is_told_in_most_worlds(plant):
    r = recovered(plant, 30)
    assert min(r.held[e] for e in EFFECTS) >= 0.9
    assert max(r.told[e] for e in EFFECTS if e != plant) <= 0.1
    assert plant == "none" or r.told[plant] >= 0.35
