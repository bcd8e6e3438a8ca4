"""Settings of ``seqsearch mcil``: what is understood, and what is refused before anything is opened."""

from __future__ import annotations

import pytest

from protocols.mcil.settings import McilSettings
from seqsearch.core.errors import UserError


def settings(**more) -> McilSettings:
    return McilSettings(**{"methods": "simplecil", **more})


def test_runs_are_orders_with_a_seed_each_or_orders_times_seeds():
    assert settings(seeds=3).plan == (3, 1)
    assert settings(seeds=3, orders=5).plan == (5, 3)
    assert settings(seeds=4, orders=1).plan == (1, 4)


def test_modalities_are_another_scenario():
    assert settings().scenario == "class_incremental"
    assert settings(modalities=True).scenario == "modalities"


def test_each_choice_of_test_texts_is_another_scenario():
    found = {texts: settings(text_at_test=texts).scenario for texts in ("full", "class-free", "none")}
    assert found == {"full": "class_incremental", "class-free": "class_free_texts", "none": "without_texts"}
    assert settings().text_at_test == "full"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"methods": ""}, "--methods is missing"),
        ({"methods": "cmd:true"}, "a command says how many images are right"),
        ({"experiences": 1}, "--experiences 1"),
        ({"seeds": 0}, "--seeds 0"),
        ({"orders": -1}, "--orders -1"),
        ({"orders": 1000, "seeds": 1000}, "--orders 1000 times --seeds 1000: at most 100,000 runs"),
        ({"orders": 1000, "seeds": 1000, "experiences": 5000}, "trainings: at most"),
        ({"classes": -1}, "--classes -1"),
        ({"text_at_test": "some"}, "--text-at-test 'some': must be full or class-free or none"),
        ({"text_at_test": "none", "modalities": True}, "the ablation compares with texts as they are"),
    ],
)
def test_what_is_refused_in_one_line(wrong, says):
    with pytest.raises(UserError) as error:
        settings(**wrong)
    assert says in str(error.value)
    assert "\n" not in str(error.value)
