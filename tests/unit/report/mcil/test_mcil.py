"""What is said of an MCIL run: nothing that its runs do not show."""

from __future__ import annotations

import dataclasses
import io
import json

import numpy as np
import pytest
from rich.console import Console

from protocols.mcil.summary import Summary, summarise
from protocols.report.mcil.notes import headline, notes
from protocols.report.mcil.tables import LAYOUTS, best, key, modality_ablation, noise, pairs
from protocols.report.mcil.view import view
from protocols.report.notes import Note
from protocols.report.table import Marked
from protocols.report.terminal import render
from tests.unit.report.mcil.rows import results, summary


def runs(mean: float, n: int = 6, sd: float = 0.01, draw: int = 0) -> list[list[float]]:
    """One seed of each of ``n`` orders; other draws are other noise."""
    noise = np.random.default_rng([draw, round(1000 * abs(mean))]).normal(size=n)
    return [[round(float(a), 3)] for a in mean + sd * noise]


def coded(s: Summary) -> dict[str, list[Note]]:
    """Notes by code."""
    found: dict[str, list[Note]] = {}
    for n in notes(s):
        found.setdefault(n.code, []).append(n)
    return found


def test_pairs_that_differ_are_named_and_counted():
    s = summary({"low": runs(0.3), "high": runs(0.9), "near": runs(0.905)})
    said = headline(s)
    assert said.code == "mcil.differ"
    assert (said.values["differing"], said.values["pairs"]) == (2, 3)
    assert len(said.text.split()) <= 16
    assert {(n.values["above"], n.values["below"]) for n in coded(s)["mcil.pair"]} == {("high", "low"), ("near", "low")}
    assert {row[3] for row in pairs(s).rows} >= {"undecided"}


def test_methods_that_none_is_significantly_above_are_bold():
    s = summary({"low": runs(0.3), "high": runs(0.9), "near": runs(0.905)})
    assert set(best(s)) == {"high", "near"}
    assert {row[0] for row in key(s).rows if isinstance(row[1], Marked) and row[1].bold} == {"high", "near"}
    assert "mcil.bold" in coded(s)
    assert best(summary({"a": runs(0.5, sd=0.1), "b": runs(0.5, sd=0.1, draw=1)})) == []


def test_where_nothing_is_told_that_is_said():
    s = summary({"a": runs(0.5, sd=0.1), "b": runs(0.5, sd=0.1, draw=1)})
    assert headline(s).code == "mcil.none_differ"


@pytest.mark.parametrize(("n", "unit", "flag"), [(1, "training seed", "--seeds"), (2, "class orders", "--orders")])
def test_of_one_or_two_runs_there_is_no_interval(n, unit, flag):
    s = summary({"a": runs(0.2, n), "b": runs(0.9, n)})
    assert headline(s).code == "mcil.too_few"
    assert "[" not in key(s).texts[0][1]
    assert coded(s)["mcil.few"][0].values == {"runs": n, "unit": unit, "fewest": 3, "flag": flag}


def test_methods_that_agree_are_not_told_apart():
    same = runs(0.5)
    assert headline(summary({"a": same, "b": same})).code == "mcil.equal"


def test_one_method_is_compared_with_none():
    assert headline(summary({"a": runs(0.5)})).code == "mcil.one"


def test_a_method_that_failed_is_compared_with_none_and_named():
    s = summary({"a": runs(0.5), "b": runs(0.9)}, status={"b": "diverged"})
    assert headline(s).values["method"] == "a"
    assert coded(s)["mcil.failed"][0].values["methods"] == ["b (diverged)"]
    assert not pairs(s).rows
    assert headline(summary({"b": runs(0.9)}, status={"b": "failed"})).code == "mcil.none"


def test_why_a_method_failed_is_told_in_a_line_whoever_wrote_it():
    of = results({"a": runs(0.5), "b": runs(0.9)}, status={"b": "failed"})
    told = {"b": "failed on order-0: \x1b[31mno\nway" + 1000 * "!", "a": "nobody asked", "c": "who is that"}
    (why,) = coded(summarise(dataclasses.replace(of, stats={**of.stats, "failures": told})))["mcil.why_failed"]
    assert why.text.startswith("b: failed on order-0: \\x1b[31mno\\nway!")
    assert len(why.text) < 500


def test_of_an_unfinished_run_nothing_is_claimed():
    s = summary({"a": runs(0.2), "b": runs(0.9)}, complete=False)
    assert headline(s).values == {"reached": "learning"}
    assert not s.pairs
    assert not {"mcil.pair", "mcil.failed", "mcil.modality"} & set(coded(s))


def test_every_interval_says_what_it_is_conditional_on():
    there = coded(summary({"a": runs(0.5)}))
    assert there["mcil.over_orders"][0].values == {"orders": 6, "seeds": 1}
    for what in ("this pool", "this split", "test images", "settings"):
        assert what in there["mcil.conditional"][0].text
    one = summary({"a": [[0.5, 0.6, 0.55]]})
    assert coded(one)["mcil.over_seeds"][0].values == {"seeds": 3}
    assert "training seeds" in key(one).lead


@pytest.mark.parametrize(
    ("texts", "words", "code", "lead"),
    [
        (None, None, "mcil.texts_full", ""),
        ("full", None, "mcil.texts_full", ""),
        ("none", None, "mcil.texts_none", "Test images have an empty text."),
        ("class-free", {"kept": 22, "of": 78}, "mcil.texts_class_free", "Test texts are class-free."),
        ("class-free", {"kept": "\x1b[2J"}, "mcil.texts_other", "Test texts are class-free."),
    ],
)
def test_the_texts_of_test_images_are_stated(texts, words, code, lead):
    of = results({"a": runs(0.2), "b": runs(0.9)})
    settings = {**of.config["settings"], **({"text_at_test": texts} if texts else {})}
    identity = {**of.config["identity"], **({"class_free_words": words} if words else {})}
    s = summarise(dataclasses.replace(of, config={**of.config, "settings": settings, "identity": identity}))
    [said] = [n for n in notes(s) if n.code.startswith("mcil.texts")]
    assert said.code == code
    assert said.values == (words if code == "mcil.texts_class_free" else said.values)
    assert "\x1b" not in said.text
    assert view(s).to_json()["text_at_test"] == (texts or "full")
    for table in (key(s), pairs(s)):
        assert table.lead.endswith(lead)
        assert ("Test" in table.lead) == bool(lead)


def test_what_a_modality_is_worth_is_paired_over_the_runs():
    full = np.array(runs(0.7, sd=0.05))
    image = np.round(full + np.array(runs(-0.3, sd=0.005)), 3)
    text = np.round(full + np.array(runs(0.0, sd=0.05)), 3)
    s = summary({"a": full, ("a", "image only"): image, ("a", "text only"): text})
    rows = {row[1]: row for row in modality_ablation(s).rows}
    assert rows["image only"][-1] == "worse"
    assert rows["text only"][-1] == "undecided"
    (said,) = coded(s)["mcil.modality"]
    assert (said.values["method"], said.values["classifier"]) == ("a", "image only")


def test_noise_of_orders_and_of_seeds_has_a_note_for_each_case():
    order = np.linspace(0.3, 0.9, 6)[:, None]
    by_seed = np.array([[-0.01, 0.0, 0.01]])
    turned = np.array([np.roll(0.5 + 5 * by_seed[0], k) + 0.001 * k for k in range(6)])
    s = summary({"moved": order + by_seed, "seeds": turned, "fixed": np.repeat(order, 3, axis=1)})
    verdicts = {row[0]: row[-1] for row in noise(s).rows}
    assert verdicts == {
        "moved": "orders matter",
        "seeds": "within seed-to-seed variation",
        "fixed": "seeds change nothing",
    }
    there = coded(s)
    assert list(there["mcil.orders_matter"][0].values["sd"]) == ["moved"]
    assert there["mcil.orders_undecided"][0].values == {"methods": ["seeds"]}
    assert there["mcil.unseeded"][0].values == {"methods": ["fixed"]}


def test_all_of_it_can_be_printed_and_is_plain_json():
    s = summary({"[red]a[/red]": runs(0.5), "b\x1b[2J": runs(0.9), ("b\x1b[2J", "image only"): runs(0.7)})
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(render(view(s), details=True))
    text = console.export_text()
    assert "[red]a[/red]" in text
    assert "\x1b" not in text
    said = json.loads(json.dumps(view(s).to_json(), allow_nan=False))
    assert said["ranking"][0].startswith("b")
    assert said["tables"]["methods"][0]["average"] == pytest.approx(0.9, abs=0.02)
    assert list(said["tables"]) == ["methods", "further", "experiences", "pairs", "modalities"]


def test_exemplars_are_not_all_that_is_stored():
    about = {c.key: c.about for layout in LAYOUTS for c in layout.columns}
    assert "parameters" in about["stored_mb"]
    assert "parameters" not in about["exemplars_mb"]
