"""Notes of a GTEP run: each code where it holds, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from protocols.gtep.summary import summarise
from protocols.gtep.unshared import Unshared
from protocols.report.gtep import tried as gtep_tried
from protocols.report.gtep.compared import near_duplicates, unshared
from protocols.report.gtep.notes import PAIRS_NAMED
from protocols.report.gtep.view import headline, tiles
from seqsearch.stats.choice import Difference, mean_over_orders
from seqsearch.stats.interval import Interval
from tests.unit.report.gtep.rows import POOL, TUNE, Made
from tests.unit.report.gtep.test_gtep import coded, noisy, three


def test_acc_alone_that_would_choose_otherwise_is_said() -> None:
    made = Made(("a",), orders=1)
    for number, curve in enumerate(([0.9, 0.9, 0.50], [0.5, 0.5, 0.52])):
        made.rollout("tune-0", "search", f"a [{number}]", curve)
    for number, (acc, avg) in enumerate(((0.50, 0.77), (0.52, 0.51))):
        score = 2 * acc * avg / (acc + avg)
        made.trials.append(
            {
                "pool": TUNE,
                "method_id": "a",
                "trial": number,
                "params": "{}",
                "accuracy": acc,
                "average_accuracy": avg,
                "harmonic_mean": score,
                "status": "ok",
                "chosen": number == 0,
            }
        )
    [said] = coded(summarise(made.results()))["gtep.alone"]
    assert said.values == {"method": "a", "figure": "Acc", "other": 1, "chosen": 0}


def test_pairs_that_reverse_are_found_and_many_pairs_are_counted() -> None:
    methods = [f"m{i}" for i in range(12)]
    made = Made(methods, orders=6)
    for i, m in enumerate(methods):
        made.tried(m, [noisy(0.8 - 0.05 * i, 6, i, 0.001)])
        made.evaluated(m, noisy(0.2 + 0.05 * i, 6, 50 + i, 0.001))
        made.evaluated(m, noisy(0.2 + 0.05 * i, 6, 100 + i, 0.001), "original")
    s = summarise(made.results())
    found = coded(s)
    [reverse] = found["gtep.reversed"]
    assert (reverse.values["number"], len(reverse.values["pairs"])) == (66, PAIRS_NAMED)
    assert reverse.values["rankings"] == "as chosen, tuned"
    assert reverse.values["pairs"][0] == "m0 > m1"
    assert found["gtep.agreed"][0].values["rankings"] == "tuned, original"
    assert found["gtep.pairs_named"][0].values == {"most": PAIRS_NAMED}
    assert "gtep.p_approximate" in found


def test_rankings_of_methods_that_are_all_alike_have_no_tau() -> None:
    made = Made(("a", "b", "c"), orders=2)
    for m in made.methods:
        made.evaluated(m, [0.5, 0.5])
        made.evaluated(m, [0.6, 0.6], "original")
    found = coded(summarise(made.results()))
    assert found["gtep.tau_unknown"][0].values["rankings"] == "tuned, original"
    assert "gtep.p_unrelated" not in found


def test_pairs_are_not_compared_with_few_orders() -> None:
    found = coded(summarise(three(orders=2, conventional=True).results()))
    assert {n.values["rankings"] for n in found["gtep.pairs_unknown"]} == {
        "as chosen, tuned",
        "tuned, conventional",
        "tuned, original",
    }
    assert {n.values["figure"] for n in found["gtep.unknown"]} == {"regret", "gain", "optimism"}
    assert {n.values["why"] for n in found["gtep.unknown"]} == {"3 class orders needed, 2 there"}


def test_a_gain_that_orders_do_not_show_is_undecided() -> None:
    made = Made(("a",), orders=8)
    made.evaluated("a", noisy(0.5, 8, 1, 0.05))
    made.evaluated("a", noisy(0.5, 8, 2, 0.05), "original")
    found = coded(summarise(made.results()))
    assert found["gtep.within"][0].values == {"pool": POOL, "figure": "gain", "methods": ["a"]}
    assert "gtep.gain" not in found


def test_the_same_setting_chosen_on_both_has_regret_nought_and_is_said_to_be_the_same() -> None:
    made = Made(("a",), orders=2)
    made.tried("a", [[0.5, 0.6]])
    made.tried("a", [[0.5, 0.6]], group="tune-on-0", pool=POOL)
    for use in ("tuned", "conventional", "original"):
        made.evaluated("a", [0.5, 0.6], use)
    found = coded(summarise(made.results()))
    assert found["gtep.same_setting"][0].values == {"pool": POOL, "methods": ["a"], "tuning": TUNE}
    assert not [n for n in found.get("gtep.unknown", ()) if n.values["figure"] == "regret"]


def test_more_settings_are_judged_by_draws_alone() -> None:
    found = coded(summarise(three().results()))
    assert {"gtep.enough", "gtep.more_maybe"} & set(found)
    assert "gtep.rule" in found
    made = three()
    made.settings["searcher"] = "optuna"
    s = summarise(made.results())
    assert "gtep.dependent" in coded(s)
    assert not {"gtep.enough", "gtep.more_maybe", "gtep.rule"} & set(coded(s))
    assert gtep_tried.expected(s).rows == ()


def test_whether_more_settings_help_has_a_note_for_each_case() -> None:
    made = Made(("flat", "steep", "few"), orders=6)
    made.tried("flat", [noisy(0.6, 6, i, 0.02) for i in range(20)])
    made.tried("steep", [noisy(0.1 + 0.04 * i, 6, i, 0.001) for i in range(20)])
    made.tried("few", [noisy(0.6, 6, i) for i in range(3)])
    found = coded(summarise(made.results()))
    assert found["gtep.enough"][0].values == {"methods": ["flat"], "more": 10}
    assert found["gtep.more_maybe"][0].values == {"methods": ["steep"], "more": 10}
    assert found["gtep.more_unknown"][0].values["methods"] == ["few"]
    assert "gtep.no_more" not in found
    made.settings["trials"] = "20"
    found = coded(summarise(made.results()))
    assert found["gtep.no_more"][0].values == {"methods": ["few"]}
    assert "gtep.more_unknown" not in found


def test_settings_of_a_run_have_notes_where_they_matter() -> None:
    plain = coded(summarise(three().results()))
    assert plain["gtep.phases"][0].values == {"chosen": 8, "tuning": TUNE, "orders": 8}
    assert not {"gtep.one_se", "gtep.overlap", "gtep.called", "gtep.left_early"} & set(plain)
    assert plain["gtep.over"][0].values == {"orders": 8}
    assert {"gtep.conditional", "mean.assumption"} <= set(plain)
    made = three()
    made.settings |= {"select": "one-se", "allow_overlap": ["cat", "dog"], "eval_orders": 8, "params": "original"}
    found = coded(summarise(made.results()))
    assert "gtep.one_se" in found
    assert found["gtep.overlap"][0].values == {"allowed": ["cat", "dog"]}
    assert "gtep.phases" not in found
    made.trials[0] |= {"harmonic_mean": None, "status": "ok"}
    assert coded(summarise(made.results()))["gtep.left_early"][0].values == {
        "method": "poor",
        "stopped": 1,
        "settings": 12,
    }


def without(curve: list[list[float]], shared: int = 3) -> Unshared:
    found = np.array(curve)
    known = bool(np.isfinite(found).any())
    harmonic = mean_over_orders(found[:, -1]) if known else Difference(Interval(np.nan), 0, "all classes are shared")
    return Unshared(shared, 12, found, harmonic)


@pytest.mark.parametrize(("a", "b", "code"), [(0.6, 0.3, "gtep.rank_stays"), (0.3, 0.6, "gtep.rank_changes")])
def test_shared_classes_have_their_notes(a: float, b: float, code: str) -> None:
    made = Made(("a", "b"), orders=3)
    made.evaluated("a", [0.5, 0.6, 0.55])
    made.evaluated("b", [0.3, 0.2, 0.25])
    s = summarise(made.results())
    assert "gtep.shared" not in coded(s)
    assert unshared(s).rows == ()
    cells = [replace(c, unshared=without([[v, v]] * 3)) for c, v in zip(s.cells, (a, b), strict=True)]
    found = coded(replace(s, cells=tuple(cells)))
    assert found["gtep.shared"][0].values == {"pool": POOL, "shared": 3, "classes": 12, "tuning": TUNE}
    h = {c.method: c.harmonic.value.value for c in cells}
    assert found["gtep.without"][0].values["change"] == pytest.approx({"a": a - h["a"], "b": b - h["b"]})
    assert {"gtep.rank_stays", "gtep.rank_changes"} & set(found) == {code}
    assert "gtep.other_classes" in found
    one = coded(replace(s, cells=tuple(replace(c, unshared=without([[a, a]] * 3, 1)) for c in s.cells)))
    assert "1 of 12 classes in play on cars has something in common" in one["gtep.shared"][0].text
    nothing = coded(replace(s, cells=tuple(replace(c, unshared=without([[np.nan] * 2] * 3, 12)) for c in s.cells)))
    assert "gtep.all_shared" in nothing
    assert not {"gtep.without", "gtep.other_classes"} & set(nothing)


@pytest.mark.parametrize(("near", "code"), [(0, "gtep.none_near"), (1, "gtep.near")])
def test_look_alikes_are_counted_and_the_closest_are_named(near: int, code: str) -> None:
    s = summarise(three().results())
    assert not {"gtep.near", "gtep.none_near", "gtep.closest"} & set(coded(s))
    row = {
        "pool": POOL,
        "number": 0,
        "near_images": near,
        "judged_images": 40,
        "tuned_class": "jay\x1b",
        "tuned_row": 1,
        "judged_class": "van",
        "judged_row": 2,
        "backbone": "resnet18",
        "distance": 0.1,
        "own_distance": 0.2,
        "median_within": 0.3,
        "median_across": 0.4,
    }
    alike = replace(s, results=replace(s.results, near_duplicates=(row, {**row, "number": 1})))
    found = coded(alike)
    assert {"gtep.near", "gtep.none_near"} & set(found) == {code}
    assert found[code][0].values["images"] == 40
    [closest] = found["gtep.closest"]
    assert r"jay\x1b [1] and van [2], by features of resnet18" in closest.text
    assert [str(row[3]).endswith("*") for row in near_duplicates(alike).texts] == [bool(near), False]


def test_what_is_told_of_settings_is_what_orders_tell() -> None:
    far = Made(("a",), orders=6)
    far.tried("a", [noisy(0.8, 6, 1), noisy(0.4, 6, 2), noisy(0.3, 6, 3)])
    assert coded(summarise(far.results()))["gtep.setting_best"][0].values == {"method": "a"}
    close = Made(("a",), orders=6)
    close.tried("a", [noisy(0.6, 6, 1, 0.1), noisy(0.59, 6, 2, 0.1), noisy(0.3, 6, 3)])
    assert coded(summarise(close.results()))["gtep.settings_alike"][0].values == {"method": "a", "others": 1}
    one = Made(("a",), orders=1)
    one.tried("a", [[0.8], [0.4]])
    [said] = coded(summarise(one.results()))["gtep.settings_undecided"]
    assert said.values["why"].startswith("one class order")


@pytest.mark.parametrize(
    ("levels", "code", "above"), [((0.8, 0.3), "gtep.same_first", 2), ((0.3, 0.8), "gtep.other_first", 2)]
)
def test_of_several_pools_the_headline_counts(levels: tuple[float, float], code: str, above: int) -> None:
    made = Made(("a", "b"), orders=6, pools=("x", "y"))
    made.evaluated("a", noisy(0.8, 6, 1))
    made.evaluated("b", noisy(0.3, 6, 2))
    made.evaluated("a", noisy(levels[0], 6, 3), group="judge-1")
    made.evaluated("b", noisy(levels[1], 6, 4), group="judge-1")
    s = summarise(made.results())
    said = headline(s)
    assert (said.code, said.values["pools"], said.values["above"]) == (code, 2, above)
    assert [t.label for t in tiles(s)][:2] == ["H of a on x", f"H of {'ab'[code == 'gtep.other_first']} on y"]
