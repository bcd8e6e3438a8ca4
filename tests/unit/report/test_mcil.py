"""What is said of an MCIL run: nothing that its runs do not show."""

from __future__ import annotations

import dataclasses
import io
import json

import numpy as np
import pytest
from rich.console import Console

from protocols.mcil.summary import summarise
from protocols.report import mcil
from protocols.report import mcil_words as words
from protocols.report.mcil_tables import noise, overview, pairs, tables, worth
from tests.unit.report.mcil_rows import results, summary


def runs(mean: float, n: int = 6, sd: float = 0.01, draw: int = 0) -> list[list[float]]:
    """One seed of each of ``n`` orders; other draws are other noise."""
    noise = np.random.default_rng([draw, round(1000 * abs(mean))]).normal(size=n)
    return [[round(float(a), 3)] for a in mean + sd * noise]


def test_pairs_beyond_noise_are_named_and_others_counted():
    s = summary({"low": runs(0.3), "high": runs(0.9), "near": runs(0.905)})
    said = words.headline(s)
    assert "has the highest Avg" in said
    assert "low" in said
    assert "1 pair of 3 cannot be told" in said
    assert {row[3] for row in pairs(s).rows} >= {"not told"}


def test_where_nothing_is_told_that_is_said():
    s = summary({"a": runs(0.5, sd=0.1), "b": runs(0.5, sd=0.1, draw=1)})
    assert "none can be told apart beyond noise" in words.headline(s)


@pytest.mark.parametrize("n", [1, 2])
def test_of_one_or_two_runs_there_is_no_interval(n):
    s = summary({"a": runs(0.2, n), "b": runs(0.9, n)})
    assert f"cannot be said: {n} of 3 runs that an interval needs" in words.headline(s)
    assert "[" not in overview(s).texts[0][1]
    assert any("no interval" in note for note in words.notes(s))


def test_methods_that_agree_are_not_told_apart():
    same = runs(0.5)
    assert "all methods agree in every run" in words.headline(summary({"a": same, "b": same}))


def test_one_method_is_compared_with_none():
    assert words.headline(summary({"a": runs(0.5)})).endswith("no other method is compared with it.")


def test_a_method_that_failed_is_compared_with_none_and_named():
    s = summary({"a": runs(0.5), "b": runs(0.9)}, status={"b": "diverged"})
    assert words.headline(s).startswith("a: Avg")
    assert any("b (diverged)" in f for f in words.findings(s))
    assert not pairs(s).rows
    none = summary({"b": runs(0.9)}, status={"b": "failed"})
    assert words.headline(none) == "No method came to the end of all its runs: nothing is claimed."


def test_why_a_method_failed_is_told_in_a_line_whoever_wrote_it():
    of = results({"a": runs(0.5), "b": runs(0.9)}, status={"b": "failed"})
    told = {"b": "failed on order-0: \x1b[31mno\nway" + 1000 * "!", "a": "nobody asked", "c": "who is that"}
    findings = words.findings(summarise(dataclasses.replace(of, stats={**of.stats, "failures": told})))
    (why,) = [f for f in findings if "on order-0" in f]
    assert why.startswith("b: failed on order-0: \\x1b[31mno\\nway!")
    assert len(why) < 500
    assert not any("nobody" in f or "who is" in f for f in findings)


def test_of_an_unfinished_run_nothing_is_claimed():
    s = summary({"a": runs(0.2), "b": runs(0.9)}, complete=False)
    assert words.headline(s).startswith("Not finished (it stopped at: learning)")
    assert not s.pairs
    assert words.findings(s) == []


def test_every_interval_says_what_it_is_conditional_on():
    (note, *_) = words.notes(summary({"a": runs(0.5)}))
    assert "over 6 random class orders with a training seed of its own each" in note
    for what in ("this pool", "this split", "test images", "settings", "All images but those of test are learned"):
        assert what in note
    (note, *_) = words.notes(summary({"a": [[0.5, 0.6, 0.55]]}))
    assert "3 training seeds of a single class order, and hold for it alone" in note
    assert "training seeds" in overview(summary({"a": [[0.5, 0.6, 0.55]]})).lead


def test_what_a_modality_is_worth_is_paired_over_the_runs():
    full = np.array(runs(0.7, sd=0.05))
    image = np.round(full + np.array(runs(-0.3, sd=0.005)), 3)
    text = np.round(full + np.array(runs(0.0, sd=0.05)), 3)
    s = summary({"a": full, ("a", "image only"): image, ("a", "text only"): text})
    rows = {row[1]: row for row in worth(s).rows}
    assert rows["image only"][-1] == "worse"
    assert rows["text only"][-1] == "not told"
    (said,) = [f for f in words.findings(s) if "loses" in f]
    assert "judged as 'image only'" in said
    assert "text only" not in said


def test_noise_of_orders_and_of_seeds_is_one_sentence():
    order = np.linspace(0.3, 0.9, 6)[:, None]
    by_seed = np.array([[-0.01, 0.0, 0.01]])
    turned = np.array([np.roll(0.5 + 5 * by_seed[0], k) + 0.001 * k for k in range(6)])
    s = summary({"moved": order + by_seed, "seeds": turned, "fixed": np.repeat(order, 3, axis=1)})
    verdicts = {row[0]: row[-1] for row in noise(s).rows}
    assert verdicts == {"moved": "orders matter", "seeds": "not told from seeds", "fixed": "seeds change nothing"}
    (said,) = [f for f in words.findings(s) if "class order to class order" in f]
    assert "beyond what training seeds explain in moved (" in said
    assert "in seeds by no more than seeds may explain" in said
    assert "in fixed, where seeds changed nothing" in said


def test_all_of_it_can_be_printed_and_is_plain_json():
    s = summary({"[red]a[/red]": runs(0.5), "b\x1b[2J": runs(0.9), ("b\x1b[2J", "image only"): runs(0.7)})
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(mcil.render(s))
    text = console.export_text()
    assert "[red]a[/red]" in text
    assert "\x1b" not in text
    assert json.loads(json.dumps(mcil.to_json(s), allow_nan=False))["ranking"][0].startswith("b")
    assert [t.title for t in tables(s)] == [
        "Methods", "Costs", "After each experience", "Methods, pair by pair", "What each modality is worth",
    ]  # fmt: skip
