import io
import json

import numpy as np
import pytest
from rich.console import Console

from protocols.report import text as wording
from protocols.report.cldyb.notes import headline, notes, tiles
from protocols.report.cldyb.view import view
from protocols.report.terminal import render
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted
from seqsearch.results.rows import EvaluatedRollout
from seqsearch.stats.drop import drop
from tests.studies import summary_of
from tests.unit.run_folders import STATS, glyphs, outcome, rescored, sequence, triangle, write_run

POOL = glyphs()
TASKS = [[0, 1], [2, 3]]


def found(name="search-0", methods=("er", "slca"), kind="searched"):
    return sequence(POOL, name, kind, methods, TASKS)


def randoms(n=3):
    return [sequence(POOL, f"random-{i}", "random", ("er", "slca"), [[0, 1], [10 + i, 20 + i]]) for i in range(n)]


def result(final_old, final_new, first=0.9, masked=0.95, **more):
    """Two tasks: first learned at ``first``, then ``final_old``, ``final_new``; everything masked is ``masked``."""
    return outcome([[first], [final_old, final_new]], [[masked], [masked, masked]], **more)


def plain(run, width=120):
    console = Console(file=io.StringIO(), width=width)
    console.print(render(view(summary_of(run)), details=True))
    return console.file.getvalue()


def coded(summary):
    return {n.code: n.values for n in notes(summary)}


@pytest.fixture
def joint(tmp_path):
    """Two methods, one found sequence with two training seeds, three random ones. Acc found: er .4 and .5, slca .6."""
    f, (r0, r1, r2) = found(), randoms()
    evaluated = [
        rescored(f, "er", 1000, result(0.2, 0.6)), rescored(f, "er", 1001, result(0.4, 0.6)),
        rescored(f, "slca", 1000, result(0.5, 0.7, footprint=None)), rescored(f, "slca", 1001, result(0.5, 0.7)),
    ]  # fmt: skip
    for m, acc in (("er", 0.7), ("slca", 0.8)):
        for r, shift in ((r0, 0.0), (r1, 0.1), (r2, 0.05)):
            evaluated.append(rescored(r, m, 1000, result(acc + shift, acc + shift, masked=0.99)))
    for role, split in (("search", "reward"), ("search", "test"), ("rescore", "reward")):  # no headline figures
        evaluated.append(
            EvaluatedRollout("search-0", "searched", role, "er", "config", "w", 1000, split, result(0.0, 0.0))
        )
    return write_run(tmp_path / "joint", POOL, [f, r0, r1, r2], evaluated, ["er", "slca"])


def test_figures_are_those_computed_by_hand(joint):
    summary = summary_of(joint)
    er, slca = summary.methods
    assert (er.method, slca.method, summary.separate) == ("er", "slca", False)
    assert er.found.acc == pytest.approx(0.45)
    assert er.found.ar == pytest.approx((0.2 + 0.4) / 2 - 0.9)
    assert er.found.ala == pytest.approx((0.9 + 0.6) / 2)
    assert er.found.acc_by_step == pytest.approx((0.9, 0.45))
    assert (er.found.low[1], er.found.high[1]) == pytest.approx((0.4, 0.5))
    assert er.found.masked_by_step == pytest.approx((0.95, 0.95))
    assert (er.found.sequences, er.found.seeds, er.random.sequences, er.random.seeds) == (1, 2, 3, 1)
    assert er.random.acc == pytest.approx(0.75)
    assert er.random.worst == pytest.approx(0.7)
    assert er.drop.relative.value == pytest.approx((0.75 - 0.45) / 0.75)
    assert er.footprint_mb == slca.footprint_mb == pytest.approx(1.5)
    assert er.size_mb == slca.size_mb == pytest.approx(4)
    assert summary.mean.found.acc == pytest.approx((0.45 + 0.6) / 2)
    assert summary.mean.drop.relative.value == pytest.approx((0.8 - 0.525) / 0.8)
    expected = drop([[0.5, 0.55]], [[0.75], [0.85], [0.8]])
    assert summary.mean.drop.relative.low == pytest.approx(expected.relative.low)
    assert summary.placed.found == pytest.approx((0.5,)), "the mean over methods, with the first seed"
    assert summary.placed.random == pytest.approx((0.75, 0.85, 0.8))
    assert (summary.placed.test.p, summary.placed.test.needed) == (1 / 4, 16)


def test_a_search_for_easy_sequences_is_tested_for_easier_ones(joint):
    config = json.loads((joint / "config.json").read_text())
    config["settings"]["temperature"] = float("inf")  # --difficulty easy
    (joint / "config.json").write_text(json.dumps(config))
    assert summary_of(joint).placed.test.end == "easier"
    assert summary_of(joint).placed.test.p == 1.0
    assert "above 0 of 3  random sequences, p = 1.000" in plain(joint)


def test_the_notes_say_condition_cost_and_what_is_hard(joint):
    text = " ".join(plain(joint, 200).split())
    assert (
        "No verdict yet: 16 more random sequences are needed (--random-sequences 19). 52.5 % final Acc, found sequences "
        "80.0 % final Acc, random sequences" in text
    )
    assert "below 3 of 3 random sequences, p = 0.250" in text
    there = coded(summary_of(joint))
    assert there["cldyb.these_found"] == {
        "over": ["random sequences"],
        "found": 1,
        "random": 3,
        "seeds": 2,
        "given": ["first task", "split of the images", "found sequences", "training seeds", "test images"],
    }
    assert there["cldyb.these_seeds"] == {}
    assert there["cost.trainings"] == {"trainings": 40}
    assert there["cost.naive"] == {"naive": 100, "ratio": 2.5}
    assert there["cost.replayed"] == {"results": 3}
    assert there["cost.time"] == {"seconds": 125, "sessions": 2}
    assert there["cost.busy"] == {"share": 0.9}
    assert there["cldyb.confusion"] == pytest.approx({"acc": 0.275, "tasks": 0.04, "confusion": 0.235})
    assert there["cldyb.confusion_steps"]["found"] == pytest.approx([0.05, 0.425])
    assert there["cldyb.confusion_steps"]["random"] == pytest.approx([0.09, 0.19])
    assert text.endswith("Columns: seqsearch metrics cldyb (docs/metrics.md).")


def test_json_holds_the_same_and_nothing_that_json_has_not(joint):
    data = json.loads(json.dumps(view(summary_of(joint)).to_json(), allow_nan=False))
    assert data["methods"][0]["found"]["acc"] == pytest.approx(0.45)
    assert data["stats"] == STATS


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_narrow_terminal_still_shows_every_figure(joint, width):
    lines = plain(joint, width).splitlines()
    assert max(map(len, lines)) <= width
    er = " ".join(line for line in lines if line.startswith("er "))  # what does not fit stands below
    for figure in ("45.0", "75.0", "-60.0", "-15.0", "82.5", "40.0", "1.50"):
        assert figure in er


def test_square_brackets_in_a_label_are_no_markup(tmp_path):
    f = found(methods=("[red]x[/red]",))
    run = write_run(tmp_path / "r", POOL, [f], [rescored(f, "[red]x[/red]", 0, result(0.5, 0.5))])
    assert "[red]x[/red]" in plain(run)


# ------------------------------------------------------------------------------------------------ separate runs


def separate(tmp_path, searches):
    """Each method has its own found sequences; er's are at .3, .5, ..., slca's at .6."""
    own = {m: [found(f"search-{i}-{m}", (m,)) for i in range(n)] for m, n in searches.items()}
    evaluated = [
        rescored(s, m, 1000, result(acc, acc))
        for m, base in (("er", 0.3), ("slca", 0.6))
        for i, s in enumerate(own[m])
        for acc in [base + (0.2 * i if m == "er" else 0.0)]
    ]
    evaluated += [
        rescored(r, m, 1000, result(acc, acc)) for m in own for r, acc in zip(randoms(), (0.8, 0.82, 0.78), strict=True)
    ]
    return write_run(tmp_path / "separate", POOL, [*own["er"], *own["slca"], *randoms()], evaluated, ["er", "slca"])


def test_separate_runs_score_each_method_on_its_own_sequences(tmp_path):
    run = separate(tmp_path, {"er": 2, "slca": 2})
    summary = summary_of(run)
    er, slca = summary.methods
    assert summary.separate
    assert (er.found.acc, er.found.worst, er.found.sequences) == pytest.approx((0.4, 0.3, 2))
    assert (slca.found.acc, slca.found.worst) == pytest.approx((0.6, 0.6))
    assert summary.mean.drop.found == pytest.approx(0.5)
    text = " ".join(plain(run).split())
    assert "Robust" in text
    assert "worst" in text
    there = coded(summary)
    assert {"training seeds", "found sequences"} <= set(there["cldyb.these_found"]["given"])
    assert there["cldyb.these_found"]["seeds"] == 1
    assert there["cldyb.own_sequences"] == {"searches": 2}


def test_a_search_that_fell_short_is_no_robustness(tmp_path):
    """er scores .9 on what was found for it, and .4 on what was found for slca; slca scores .5 on its own, .7 on er's."""
    own = {m: found(f"search-0-{m}", (m,)) for m in ("er", "slca")}
    acc = {("er", "er"): 0.9, ("er", "slca"): 0.4, ("slca", "slca"): 0.5, ("slca", "er"): 0.7}
    evaluated = [rescored(own[s], m, seed, result(a, a)) for (m, s), a in acc.items() for seed in (1000, 1001)]
    evaluated += [rescored(r, m, seed, result(0.8, 0.8)) for m in own for r in randoms() for seed in (1000, 1001)]
    run = write_run(tmp_path / "r", POOL, [*own.values(), *randoms()], evaluated, ["er", "slca"])
    er, slca = summary_of(run).methods
    assert (er.robustness, slca.robustness) == pytest.approx((0.4, 0.5))
    [said] = [n.values for n in notes(summary_of(run)) if n.code == "cldyb.fell_short"]
    assert said == {"method": "er", "own": pytest.approx(0.9), "low": pytest.approx(0.4), "others": ["slca"]}


def test_methods_with_unequal_numbers_of_searches_have_no_joint_drop(tmp_path):
    summary = summary_of(separate(tmp_path, {"er": 2, "slca": 1}))
    assert all(m.drop is not None for m in summary.methods)
    assert summary.mean.drop is None
    assert any("No drop of the mean" in n.text for n in notes(summary))
    assert headline(summary).code == "cldyb.no_comparison"


# ------------------------------------------------------------------------------------------------ what is missing


def test_without_random_sequences_the_found_ones_still_have_their_figures(tmp_path):
    f = found(methods=("er",))
    run = write_run(tmp_path / "r", POOL, [f], [rescored(f, "er", 0, result(0.2, 0.6))], ["er"])
    summary = summary_of(run)
    assert summary.methods[0].found.acc == pytest.approx(0.4)
    assert (summary.methods[0].random, summary.methods[0].drop, summary.mean) == (None, None, None)
    assert headline(summary).code == "cldyb.no_random"


@pytest.mark.parametrize("lost", ["missing", "diverged"])
def test_only_seeds_that_both_sides_have_in_full_are_compared(tmp_path, lost):
    f, (r0, r1) = found(methods=("er",)), randoms(2)
    evaluated = [rescored(s, "er", seed, result(0.5 + seed / 10, 0.5)) for s in (f, r0, r1) for seed in (1, 2)]
    if lost == "missing":
        del evaluated[-1]
    else:
        evaluated[-1] = rescored(r1, "er", 2, outcome([[0.1]], status="diverged", steps=2, footprint=None))
    run = write_run(tmp_path / "r", POOL, [f, r0, r1], evaluated, ["er"])
    er = summary_of(run).methods[0]
    assert (er.found.seeds, er.random.seeds, er.drop.seeds) == (2, 1, 2)
    assert er.random.acc == pytest.approx(0.55)
    text = " ".join(plain(run).split())
    said = "are missing" if lost == "missing" else "failed (diverged)"
    assert f"er: 1 of 6 re-scored rollouts {said}" in text
    assert "compared on the 1 training seed" in text


@pytest.mark.parametrize(("learned", "given"), [(4, True), (3, False)])
def test_no_drop_from_fewer_than_half_of_the_random_sequences(tmp_path, learned, given):
    f, rest = found(methods=("er",)), randoms(8)
    evaluated = [rescored(s, "er", 0, result(0.5, 0.5)) for s in (f, *rest[:learned])]
    failed = outcome([[0.1]], status="diverged", steps=2, footprint=None)
    evaluated += [rescored(s, "er", 0, failed) for s in rest[learned:]]
    run = write_run(tmp_path / "r", POOL, [f, *rest], evaluated, ["er"])
    er = summary_of(run).methods[0]
    assert (er.drop is not None, er.random is not None) == (given, given)
    said = f"{8 - learned} random sequences left out" if given else f"{8 - learned} of 9 re-scored rollouts failed"
    assert said in " ".join(plain(run).split())


def test_an_interrupted_rescoring_is_said_and_not_compared(tmp_path):
    f, rest = found(), randoms()
    run = write_run(tmp_path / "r", POOL, [f, *rest], [rescored(f, "er", 0, result(0.2, 0.6))], ["er", "slca"])
    summary = summary_of(run)
    er, slca = summary.methods
    assert er.found.acc == pytest.approx(0.4)
    assert (er.random, er.drop, slca.found, summary.mean.found) == (None, None, None, None)
    text = plain(run)
    assert "er: 3 of 4 re-scored rollouts are missing" in text
    assert "slca: 4 of 4 re-scored rollouts are missing" in text
    assert "cannot be compared" in text


def test_nothing_rescored_and_no_stats(tmp_path):
    run = write_run(tmp_path / "r", POOL, [found()], [], ["er"], stats=None)
    text = plain(run)
    assert "er: nothing was re-scored" in text
    assert "no stats.json" in text


def test_what_is_no_finished_run_is_refused_in_one_line(tmp_path, joint):
    with pytest.raises(UserError, match="no run folder"):
        summary_of(tmp_path)
    (joint / "results.parquet").unlink()
    with pytest.raises(UserError, match=r"is not finished .* --resume") as error:
        summary_of(joint)
    assert "\n" not in str(error.value)
    (joint / "config.json").write_text("{")
    with pytest.raises(UserError, match="restore it"):
        summary_of(joint)


# ------------------------------------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("found_acc", "random_acc", "code", "drop"),
    [
        ([[0.4, 0.41]], [[0.8], [0.79]] * 10, "unselected", "49."),
        ([[0.9, 0.9]], [[0.6], [0.6], [0.61]] * 7, "undecided", "-49."),
        ([[0.9, 0.9]], [[0.6], [0.6], [0.61]], "too_few", "-49."),
        ([[0.4, 0.4]], [[0.8]], "too_few", "50.0"),
        ([[0.4], [0.3]], [[0.8], [0.7], [0.6], [0.7], [0.7]], "unselected", "50.0"),
        ([[0.7, 0.7]], [[0.7, 0.7]] * 2, "equal", ""),
    ],
)
def test_the_headline_says_no_more_than_the_interval(tmp_path, found_acc, random_acc, code, drop):
    sides = [found(f"search-{i}", ("er",)) for i in range(len(found_acc))], randoms(len(random_acc))
    evaluated = [
        rescored(s, "er", seed, result(acc, acc))
        for sequences, accs in zip(sides, (found_acc, random_acc), strict=True)
        for s, row in zip(sequences, accs, strict=True)
        for seed, acc in enumerate(row)
    ]
    summary = summary_of(write_run(tmp_path / "r", POOL, [*sides[0], *sides[1]], evaluated, ["er"]))
    assert headline(summary).code == f"cldyb.{code}"
    shown = list(tiles(summary))
    assert [t.value for t in shown[:2]] == [
        f"{100 * np.mean(of):.1f} %" for of in (found_acc, [a[:1] for a in random_acc])
    ]
    assert shown[2].value.startswith(drop) if drop else len(shown) == 2
    if len(random_acc) == 1:
        assert coded(summary)["cldyb.no_interval"] == {"why": "too few random sequences, 2 more needed"}


def test_small_words():
    assert [wording.duration(s) for s in (41.2, 187, 7500)] == ["41 s", "3 min 7 s", "2 h 5 min"]
    assert [wording.percent(x) for x in (0.1234, -0.00001, np.nan)] == ["12.3", "0.0", "-"]
    assert [counted(n, "training") for n in (1, 1024)] == ["1 training", "1,024 trainings"]
    assert np.isnan(triangle([[1.0], [0.5, 0.5]])[0, 1])
