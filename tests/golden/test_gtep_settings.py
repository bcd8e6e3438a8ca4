"""Tables 3 to 5 and the settings of "Hyperparameters in Continual Learning: A Reality Check", and what methods declare."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from protocols.evaluate.published.ledger import read_ledger
from protocols.evaluate.published.where import LEDGER
from protocols.gtep.paper.sets import PrintedSet, first_task, instead_of, printed_sets, sets_of
from protocols.gtep.paper.settings import left_out, outside_sets, printed_list, printed_lists, printed_settings
from seqsearch.core.digests import digest_of
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import load
from seqsearch.methods.base import Method
from seqsearch.methods.config import build_config
from seqsearch.methods.parts.rehearsal import RehearsalTraining
from seqsearch.methods.parts.training import FIRST_DROPS, Descent, Group, Hooks, Training, descend
from seqsearch.methods.sampling import search_space

SCRATCH = ["replay", "icarl", "bic", "wa", "podnet", "der", "foster", "beef", "memo"]
PRETRAINED = ["l2p", "dualprompt", "coda_prompt", "aper_adapter", "ranpac", "ease"]
RESNETS = ("scratch:resnet32", "scratch:resnet18")
CODE = yaml.safe_load((Path(__file__).parent / "gtep_code.yaml").read_text())
VIT = "vit_base_patch16_224"


def method_of(name: str) -> type[Method]:
    found: type[Method] = load("method", name)
    return found


def backbones(name: str) -> tuple[str, ...]:
    return RESNETS if name in SCRATCH else (VIT,)


# -------------------------------------------------------------------------------------------------- sets


@pytest.mark.parametrize("name", SCRATCH + PRETRAINED)
def test_methods_search_the_printed_sets_and_nothing_else(name: str) -> None:
    expected = {s.parameter: set(s.searched or s.values) for s in sets_of(name) if s.parameter}
    for backbone in backbones(name):
        space = search_space(method_of(name), {}, backbone)
        assert {parameter: set(values) for parameter, values in space.items()} == expected


def test_departures_from_the_printed_sets_are_these_and_have_reasons() -> None:
    odd = [s for s in printed_sets() if s.searched or not s.parameter]
    assert {(m, s.key, s.searched) for s in odd for m in s.methods} == {
        ("podnet", "lambda_c", (1, 3, 5, 7, 9)),
        ("coda_prompt", "e_pool_size", (3, 5, 10, 20, 30)),
        ("ranpac", "batch", (8, 16, 24, 48, 64, 128)),
        ("ease", "batch", (8, 16, 24, 48, 64, 128)),
        ("dualprompt", "size", ()),
        ("dualprompt", "top_k", ()),
        ("ranpac", "pt_num", ()),
        ("wa", "split_ratio", ()),
        ("memo", "exemplar_bs", ()),
    }
    assert {s.key for s in printed_sets() if s.why} == {s.key for s in odd if s.why}
    assert all(s.why for s in odd)


def test_searched_in_place_of_the_printed_set() -> None:
    """CODA-Prompt's are the printed pools over ten tasks; PODNet's are all that its lists print."""
    pool = next(s for s in printed_sets() if s.of_all)
    assert tuple(pool.ours(v, 10) for v in pool.values) == pool.searched
    assert instead_of("coda_prompt", 10, code=False) == {"components": pool.searched}
    assert instead_of("coda_prompt", 20, code=False) == {"components": (1, 2, 5, 10, 15)}, (
        "as in the public code, by floor"
    )
    assert instead_of("coda_prompt", 40, code=False) == {"components": (1, 2, 5, 7)}
    assert instead_of("l2p", 20, code=False) == {}
    spatial = next(s for s in printed_sets() if s.key == "lambda_c")
    printed = {
        (each.methods["podnet"] or {})["lambda_c"] for each in printed_lists().values() if "podnet" in each.methods
    }
    assert printed == set(spatial.searched)


def test_the_tables_hold_as_many_rows_as_are_printed() -> None:
    """21 each; rows that are printed for two groups of methods, or stand for two of our parameters, are counted once."""
    rows = {4: {s.row for s in printed_sets() if s.table == 4}, 5: {s.row for s in printed_sets() if s.table == 5}}
    assert (len(rows[4]), len(rows[5])) == (21, 21)
    general = {"Epoch", "LR", "Num milestones", "LR decay", "Batch size", "Weight decay", "LR Scheduler"}
    assert general <= rows[4]
    assert {*general, "Optimizer"} <= rows[5]


# -------------------------------------------------------------------------------------------------- public code


@pytest.mark.parametrize("name", SCRATCH + PRETRAINED)
def test_the_public_code_judges_the_printed_settings(name: str) -> None:
    """All fifteen; `adaptive_factor` and `split_ratio` of a method that has none it sets elsewhere, or not at all."""
    printed = printed_list("paper:imagenet100-10" if name in SCRATCH else "paper:imagenet-r-20").methods[name]
    assert printed is not None
    code = CODE["judged"][name]
    assert set(printed) - set(code) <= {"adaptive_factor", "split_ratio"}
    assert code == {key: printed[key] for key in code}


@pytest.mark.parametrize("name", SCRATCH + PRETRAINED)
def test_values_of_the_public_code_are_drawn_with_space_code(name: str) -> None:
    """Those of `adaptive_factor` are not in its list of values; CODA-Prompt's pool is divided among the tasks."""
    code = {
        s.parameter: set(CODE["drawn"][name][s.key])
        for s in sets_of(name)
        if s.parameter and s.key in CODE["drawn"][name]
    }
    code |= {"components": {1, 2, 5, 10, 15}} if name == "coda_prompt" else {}
    space = search_space(method_of(name), {}, backbones(name)[0], instead_of(name, 20, code=True))
    assert {parameter: set(values) for parameter, values in space.items() if parameter != "adaptive"} == code


def test_printed_values_and_those_of_the_code_differ_in_these_three() -> None:
    others = {(m, s.key): s.code for s in printed_sets() if s.code for m in s.methods}
    decays = (0.0001, 0.0005, 0.001, 0.005, 0.01)
    assert others == {("icarl", "w_decay"): decays, ("wa", "w_decay"): decays, ("beef", "batch"): (128, 256, 512)}


# -------------------------------------------------------------------------------------------------- schedules


@pytest.mark.parametrize("name", SCRATCH)
def test_the_first_task_is_learned_as_table_3_says(name: str) -> None:
    table = first_task()
    for backbone in RESNETS:
        config = build_config(method_of(name), {"scheduler": "steplr", "lr": 0.3, "weight_decay": 0.001}, backbone)
        assert isinstance(config, RehearsalTraining)
        first = config.first()
        assert (first.epochs, config.first_lr, first.weight_decay) == (table.epochs, table.lr, table.weight_decay)
        assert (first.optimizer, first.momentum) == ("sgd", 0.9)
        assert tuple(round(table.epochs * drop) for drop in FIRST_DROPS) == table.milestones
        for k, epoch in enumerate(table.milestones, 1):
            before, after = first.rate((epoch - 1) / table.epochs), first.rate(epoch / table.epochs)
            assert (before, after) == pytest.approx((table.lr_decay ** (k - 1), table.lr_decay**k))


@pytest.mark.parametrize(
    ("n", "falls"), [(2, [18, 36]), (3, [90 / 7, 180 / 7, 270 / 7]), (4, [10, 20, 30, 40])], ids=["2", "3", "4"]
)
def test_milestones_are_at_2i_of_2n_plus_1(n: int, falls: list[float]) -> None:
    """In 45 epochs of a step each: 2/5 and 4/5, 2/7 to 6/7, 2/9 to 8/9 of them. Read off what a parameter moves in each."""
    parameter, seen = torch.zeros((), requires_grad=True), [0.0]
    config = Training(
        epochs=45, batch_size=1, weight_decay=0.0, momentum=0.0, scheduler="steplr", milestones=n, lr_decay=0.5
    )
    hooks = Hooks(after_step=lambda: seen.append(float(parameter.detach())))
    descend([Group([parameter], 1.0)], 1, Descent.of(config), torch.Generator(), lambda _: -parameter, hooks)
    moved = [after - before for before, after in itertools.pairwise(seen)]
    assert moved == [0.5 ** sum(epoch >= fall for fall in falls) for epoch in range(45)]


@pytest.mark.parametrize("name", SCRATCH + PRETRAINED)
def test_methods_follow_the_rule(name: str) -> None:
    for n in (2, 3, 4):
        config = build_config(
            method_of(name), {"scheduler": "steplr", "milestones": n, "lr_decay": 0.3}, backbones(name)[0]
        )
        assert isinstance(config, Training)
        rate = config.rate()
        for i in range(1, n + 1):
            fall = 2 * i / (2 * n + 1)
            assert (rate(fall - 1e-9), rate(fall)) == pytest.approx((0.3 ** (i - 1), 0.3**i))


# -------------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize("name", printed_lists())
def test_every_setting_is_accepted(name: str) -> None:
    """And says all that is printed: each value is the parameter's, or of a key that is left out."""
    made, omitted = printed_settings(name), {(each.method, each.key) for each in left_out(name)}
    for method, printed in printed_list(name).methods.items():
        if printed is None:
            assert (name.startswith("paper:imagenet50-"), method, method in made) == (True, "beef", False)
            continue
        for backbone in backbones(method):
            config = build_config(method_of(method), made[method], backbone)
            assert {p: getattr(config, p) for p in made[method]} == made[method]
        assert len(made[method]) == len([key for key in printed if (method, key) not in omitted])


def test_printed_settings_stay_as_they_were_compared_with_the_paper() -> None:
    """1,008 numbers, and the names and truth values beside them."""
    lists = [
        (each.name, each.tasks, m, sorted((printed or {}).items()))
        for each in printed_lists().values()
        for m, printed in each.methods.items()
    ]
    values = [v for *_, printed in lists for _, v in printed]
    assert sum(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values) == 1008
    assert digest_of(lists) == "2989204ac24c9d55ecce78b938efd221"


@pytest.mark.parametrize("name", SCRATCH + PRETRAINED)
def test_defaults_are_the_original_settings(name: str) -> None:
    """But for the falls of the rate: where none is listed or none acts, and for WA and MEMO, whose falls are those of PyCIL."""
    original = {p: v for p, v in printed_settings("original")[name].items() if p not in ("milestones", "lr_decay")}
    for backbone in backbones(name):
        config = build_config(method_of(name), {}, backbone)
        assert {p: getattr(config, p) for p in original} == original


def test_best_values_outside_the_papers_own_sets() -> None:
    """Beside keys for which it prints no set (RanPAC's and EASE's batches, DualPrompt's top_k)."""
    names = [name for name in printed_lists() if name != "original"]
    outside = [(name, o.method, o.key, o.value) for name in names for o in outside_sets(name) if o.allowed]
    assert outside == [
        ("paper:imagenet100-6", "wa", "ep", 170),
        ("paper:imagenet100-6", "wa", "w_decay", 0.0002),
        ("paper:imagenet100-6", "podnet", "lambda_c", 9),
        ("paper:imagenet50-10", "podnet", "lambda_c", 7),
        ("paper:imagenet50-6", "podnet", "lambda_c", 7),
    ]
    without = {(o.method, o.key) for name in names for o in outside_sets(name) if not o.allowed}
    assert without == {("wa", "split_ratio"), ("dualprompt", "top_k"), ("ranpac", "batch"), ("ease", "batch")}
    batches = {8, 16, 24, 48, 64, 128}
    assert {o.value for name in names for o in outside_sets(name) if o.key == "batch"} <= batches


def test_sets_do_not_hold_all_original_values() -> None:
    """The paper says that they do, of general ones; these seven from scratch are not there."""
    odd = {
        (o.key, o.value)
        for o in outside_sets("original")
        if o.method in SCRATCH and o.key in ("ep", "w_decay", "comp_ep", "fusion_ep")
    }
    assert odd == {("ep", 170), ("w_decay", 0.0002), ("comp_ep", 130), ("fusion_ep", 60)}
    assert {o.method for o in outside_sets("original")} == {*SCRATCH, *PRETRAINED}


def test_many_lists_are_the_same() -> None:
    best = printed_settings("paper:imagenet100-10")
    assert {**best["bic"]} == {**best["wa"], "split_ratio": 0.1}
    general = [f.name for f in dataclasses.fields(Training)] + ["lr"]

    def shared(method: str) -> dict[str, Any]:
        return {p: v for p, v in best[method].items() if p in general}

    assert shared("der") == shared("icarl")
    assert shared("podnet") == shared("foster")


def test_the_adaptive_rule_of_bic_and_wa_is_lambda_0() -> None:
    for name in ("bic", "wa"):
        assert printed_settings("original")[name]["lamb"] == 0


def test_pools_of_components_are_shared_by_the_tasks() -> None:
    found = {
        name: printed_settings(name)["coda_prompt"]["components"]
        for name in printed_lists()
        if "r-1" in name or "cub200" in name
    }
    assert found == {
        "paper:cub200-20": 1,  # of 30, which no whole number divides
        "paper:cub200-10": 10,
        "paper:imagenet-r-10": 30,
        "paper:imagenet-r-1-20": 5,
        "paper:imagenet-r-1-10": 30,
    }


def test_numbers_are_no_truth_values() -> None:
    adaptive = PrintedSet(4, "", "", (), "", (True, False))
    assert (adaptive.prints(True), adaptive.prints(1), adaptive.prints(0)) == (True, False, False)


@pytest.mark.parametrize(("figure", "table", "names"), [("10", 4, SCRATCH), ("11", 5, PRETRAINED)])
def test_figures_10_and_11_count_the_rows_of_the_tables(figure: str, table: int, names: list[str]) -> None:
    """Each set of a method, once for each row of its table; what methods search here differs where the ledger says so."""
    entry = read_ledger(LEDGER).entry(f"gtep-figure-{figure}")
    called = {label: parse_item(name, "method").target for label, name in entry.read[0].rows}
    rows = {name: len({s.row for s in sets_of(name) if s.table == table}) for name in names}
    assert {called[label]: int(n) for label, n in entry.rows} == rows
    backbone = RESNETS[0] if table == 4 else VIT
    ours = {name: len(search_space(method_of(name), {}, backbone)) - rows[name] for name in names}
    assert {name: more for name, more in ours.items() if more} == (
        {"podnet": 1, "memo": -1} if table == 4 else {"dualprompt": -1, "ease": 1}
    )
    assert "--conventional" in entry.commands[0], "regret is what it is drawn against"
